// The card that opens over a chip while the pointer or the focus is on it. It repeats nothing that a screen
// reader does not get from the chip's own label and the list of sources.

import { fill, h, show } from './elements.mjs';

const OPEN_AFTER_MS = 150;
const CLOSE_AFTER_MS = 250;
const GAP_PX = 6;
const MARGIN_PX = 8;

/** One card for all chips; `attach(anchor, content)` opens it over the anchor with what `content()` makes. */
export function createHoverCard() {
	let node = h('div', { class: 'hover-card', hidden: true, 'aria-hidden': 'true', onpointerenter: stay, onpointerleave: leaveSoon });
	let timer = null;

	function after(milliseconds, act) {
		clearTimeout(timer);
		timer = setTimeout(act, milliseconds);
	}

	function stay() {
		clearTimeout(timer);
	}

	function leaveSoon() {
		after(CLOSE_AFTER_MS, close);
	}

	function close() {
		clearTimeout(timer);
		show(node, false);
		fill(node);
	}

	function open(anchor, content) {
		fill(node, content());
		show(node, true);
		place(node, anchor.getBoundingClientRect());
	}

	return {
		node,
		close,
		attach(anchor, content) {
			anchor.addEventListener('pointerenter', event => event.pointerType === 'mouse' && after(OPEN_AFTER_MS, () => open(anchor, content)));
			anchor.addEventListener('pointerleave', leaveSoon);
			anchor.addEventListener('focus', () => anchor.matches(':focus-visible') && open(anchor, content));
			anchor.addEventListener('blur', close);
			anchor.addEventListener('click', close);
			anchor.addEventListener('keydown', event => event.key === 'Escape' && close());
		},
	};
}

/** Below the anchor, above it when there is more room; never beyond the edges. */
function place(node, anchor) {
	let { clientWidth, clientHeight } = node.ownerDocument.documentElement;
	let { width, height } = node.getBoundingClientRect();
	let left = Math.min(anchor.left, clientWidth - width - MARGIN_PX);
	let isBelow = anchor.bottom + GAP_PX + height < clientHeight || anchor.top < clientHeight / 2;
	let top = isBelow ? anchor.bottom + GAP_PX : anchor.top - GAP_PX - height;
	node.style.left = `${Math.max(MARGIN_PX, left)}px`;
	node.style.top = `${Math.max(MARGIN_PX, top)}px`;
}
