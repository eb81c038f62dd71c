// What can be done with a turn as a whole: cancel it, let it go on, take it back.

import { fill, h, quiet } from './elements.mjs';
import { canRetry, isOver } from './run_view.mjs';

/** The buttons of a turn. Taking back asks once more, as it takes later questions too. */
export function createActions({ l10n: { say } }, { onCancel, onRetry, onAskAgain, onRewind }) {
	let node = h('div', { class: 'actions' });
	let isAsking = false;
	let last = null;

	function draw(view) {
		last = view;
		fill(node, isAsking ? confirmation(view) : [progress(view), takeBack(view)]);
	}

	function progress(view) {
		if (!isOver(view)) {
			return view.invocationId && quiet(say('cancel'), onCancel, { disabled: view.isChanging });
		}
		if (canRetry(view)) {
			return quiet(say('continue-run'), onRetry, { disabled: view.isChanging });
		}
		let isLost = view.error && (view.error.retryable || view.error.code === 'UNREACHABLE');
		return isLost && quiet(say('ask-again'), () => onAskAgain(view.prompt));
	}

	function takeBack(view) {
		return view.invocationId && view.state !== 'DELETED' && quiet(say('take-back'), () => ask(true), { disabled: view.isChanging });
	}

	function ask(isWanted) {
		isAsking = isWanted;
		draw(last);
		node.querySelector('button')?.focus();
	}

	function confirmation(view) {
		return [
			h('span', {}, say(view.isLast ? 'take-back-this' : 'take-back-later')),
			quiet(say('take-back'), () => {
				isAsking = false;
				onRewind();
			}, { disabled: view.isChanging }),
			quiet(say('keep'), () => ask(false)),
		];
	}

	return { node, update: draw };
}
