// What stands where no question was asked yet; the first time it explains in three steps what this is.

import { fill, h, quiet } from './elements.mjs';

/** The welcome; `setService(isThere)` tells whether the service answers. */
export function createWelcome({ l10n: { say }, host }) {
	let node = h('div', { class: 'welcome' });
	let isThere = true;

	let isFirst = () => host.remember('introduced') !== 'yes';

	function done() {
		host.setRemembered('introduced', 'yes');
		draw();
	}

	function draw() {
		fill(
			node,
			h('h2', {}, say('ask-library')),
			h('p', {}, say('welcome')),
			isFirst() && [
				h('ol', { class: 'first-steps' }, step('start', say(isThere ? 'first-running' : 'first-start'), !isThere && h('pre', {}, h('code', {}, 'zocrates up'))), step('private', say('first-private')), step('offline', say('first-offline'))),
				h('p', { class: 'actions' }, h('button', { type: 'button', class: 'second', onclick: done }, say('first-done')), host.openPreferences && quiet(say('preferences'), () => host.openPreferences())),
			],
		);
	}

	function step(name, text, more) {
		return h('li', { class: isThere && name === 'start' ? 'done' : null }, h('h3', {}, say(`first-${name}-title`)), h('p', {}, text), more);
	}

	draw();
	return {
		node,
		setService(is) {
			if (is !== isThere) {
				isThere = is;
				draw();
			}
		},
	};
}
