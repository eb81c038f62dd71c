// What stands above the conversation when the gateway cannot be used: away, or closed to us.

import { fill, h, quiet, show } from './elements.mjs';
import { pause } from './gateway.mjs';
import { reasonOf } from './refusal.mjs';

const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 15_000;
// Which refusals a person has to do something about that differs by where they are.
const KEYLESS = new Set(['UNAUTHENTICATED', 'LINK_EXPIRED']);

/** The gate; `onRetry` tries again: by its button, and by itself while the gateway is away. */
export function createGate({ l10n, host, life }, { onRetry }) {
	let { say } = l10n;
	let node = h('section', { class: 'gate', role: 'status', 'aria-live': 'polite', hidden: true });
	let waiting = new AbortController();
	let wait = FIRST_WAIT_MS;

	function stop() {
		waiting.abort();
		waiting = new AbortController();
	}

	async function retrySoon() {
		let { signal } = waiting;
		await pause(wait, signal);
		wait = Math.min(wait * 2, LONGEST_WAIT_MS);
		if (!signal.aborted) {
			onRetry();
		}
	}

	function now() {
		stop();
		onRetry();
	}

	life.addEventListener('abort', stop);
	return {
		node,
		/** The gateway is there. */
		open() {
			stop();
			wait = FIRST_WAIT_MS;
			show(node, false);
		},
		/** Say what is wrong. */
		close(error) {
			stop();
			let isKeyless = KEYLESS.has(error.code);
			fill(
				node,
				h('h2', {}, say('gate-title', { why: isKeyless ? error.code : error.isPassing ? 'away' : 'wrong' })),
				isKeyless ? keyHelp(say, host) : h('p', {}, reasonOf(l10n, error)),
				h('p', { class: 'actions' }, quiet(say('try-again'), now), host.openPreferences && quiet(say('preferences'), () => host.openPreferences())),
			);
			show(node, true);
			if (error.isPassing) {
				retrySoon();
			}
		},
	};
}

function keyHelp(say, host) {
	return host.kind === 'page'
		? [h('p', {}, say('key-by-link')), h('pre', {}, h('code', {}, 'zocrates link')), h('p', {}, say('key-by-link-then'))]
		: h('p', {}, say('key-by-preferences'));
}
