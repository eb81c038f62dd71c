// A turn whose view can be set as often as one likes; it is drawn at most once a frame.

import { createTurn } from './turn.mjs';

const NEAR_END_PX = 80;
// A draw that took long makes the next one wait for as long again, so that half the time is left for the person.
const LONG_DRAW_MS = 12;

/** The turn; setting `view` draws it soon. `close` ends that. */
export function createLiveTurn(context, view, callbacks) {
	let current = view;
	let turn = createTurn(context, callbacks);
	let queued = null;
	let isClosed = false;
	let notBefore = 0;
	let hasAnswer = view.answer !== null;
	turn.update(view);

	function draw(time) {
		if (time < notBefore) {
			queued = requestAnimationFrame(draw);
			return;
		}
		queued = null;
		let isNews = current.answer !== null && !hasAnswer;
		hasAnswer = current.answer !== null;
		let wasAtEnd = isAtEnd();
		turn.update(current);
		if (wasAtEnd) {
			// Who followed the writing reads the finished answer from its beginning.
			isNews ? turn.node.scrollIntoView({ block: 'start' }) : scrollToEnd();
		}
		let took = performance.now() - time;
		notBefore = took > LONG_DRAW_MS ? time + 2 * took : 0;
	}

	return {
		node: turn.node,
		get view() {
			return current;
		},
		set view(next) {
			current = next;
			// Pieces of text come faster than anybody can see.
			if (!isClosed) {
				queued ??= requestAnimationFrame(draw);
			}
		},
		close() {
			isClosed = true;
			cancelAnimationFrame(queued);
		},
	};
}

function isAtEnd() {
	let page = document.scrollingElement;
	return page.scrollHeight - page.scrollTop - page.clientHeight < NEAR_END_PX;
}

function scrollToEnd() {
	let page = document.scrollingElement;
	page.scrollTop = page.scrollHeight;
}
