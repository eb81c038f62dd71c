// What can be done with a turn as a whole: cancel it, let it go on, take it back.

import { fill, h } from './elements.mjs';
import { canRetry, isOver } from './run_view.mjs';

/** The buttons of a turn. Taking back asks once more, as it takes later questions too. */
export function createActions({ onCancel, onRetry, onAskAgain, onRewind }) {
	let node = h('div', { class: 'actions' });
	let isAsking = false;
	let last = null;

	function draw(view) {
		last = view;
		fill(node, isAsking ? confirmation(view) : [progress(view), takeBack(view)]);
	}

	function progress(view) {
		if (!isOver(view)) {
			return view.invocationId && quiet('Cancel', onCancel, view.isChanging);
		}
		if (canRetry(view)) {
			return quiet('Continue this run', onRetry, view.isChanging);
		}
		let isLost = view.error && (view.error.retryable || view.error.code === 'UNREACHABLE');
		return isLost && quiet('Ask again', onAskAgain, false);
	}

	function takeBack(view) {
		return view.invocationId && view.state !== 'DELETED' && quiet('Take back', () => ask(true), view.isChanging);
	}

	function ask(isWanted) {
		isAsking = isWanted;
		draw(last);
		node.querySelector('button')?.focus();
	}

	function confirmation(view) {
		let what = view.isLast ? 'Take this question back?' : 'Take this question and all later ones back?';
		return [
			h('span', {}, what),
			quiet('Take back', () => {
				isAsking = false;
				onRewind();
			}, view.isChanging),
			quiet('Keep', () => ask(false), false),
		];
	}

	return { node, update: draw };
}

function quiet(text, onclick, disabled) {
	return h('button', { type: 'button', class: 'quiet', onclick, disabled: Boolean(disabled) }, text);
}
