// The library: one line about its state, and a sheet with what was read, what was not, and what to do about it.

import { fill, h, quiet, show } from './elements.mjs';
import { pause } from './gateway.mjs';
import { facts, lineText, progressText, skipsByReason } from './library_facts.mjs';
import { reasonOf } from './refusal.mjs';
import { createSheet } from './sheet.mjs';
import { createSourceOffer } from './source_offer.mjs';

const LOOK_AGAIN_MS = 3000;
const MOST_IN_GROUP = 100;
const FEW_SKIPS = 8;

/** The line (a button) and the sheet it opens; `refresh` reads the state anew. */
export function createLibrary(context) {
	let { l10n, gateway, life } = context;
	let { say } = l10n;
	let line = quiet(say('library'), open, { 'class': 'quiet library-line', 'aria-haspopup': 'dialog' });
	let told = h('div');
	let skips = h('div');
	let progress = h('progress', { 'aria-label': say('sync-progress') });
	let status = h('p', { class: 'status', role: 'status' });
	let update = h('button', { type: 'button', onclick: () => bringUpToDate({}) }, say('sync'));
	let stop = quiet(say('sync-stop'), stopReading, { hidden: true });
	let source = createSourceOffer(context, { onChosen: () => refresh() });
	let { node } = createSheet(context, 'library', say('library-title'), source.node, told, h('div', { class: 'sync' }, status, progress, h('p', { class: 'actions' }, update, stop)), skips);
	let syncing = null;
	let looking = new AbortController();
	let shownSkips = null;

	function open() {
		node.showModal();
		source.refresh();
		refresh();
	}

	/** Look now, and again for as long as something is going on; settles after the first look. */
	async function refresh() {
		looking.abort();
		looking = new AbortController();
		let { signal } = looking;
		if (!await isSettled() && !life.aborted) {
			// Not awaited: whoever wanted to know, knows.
			lookAgain(signal);
		}
	}

	async function lookAgain(signal) {
		await pause(LOOK_AGAIN_MS, signal);
		if (!signal.aborted && !life.aborted) {
			await refresh();
		}
	}

	/** Show the state; tells whether it will stay so. Earlier runs can be read without the library: its absence is told, not thrown. */
	async function isSettled() {
		try {
			let state = await gateway.read('/library');
			let { name, more } = lineText(l10n, state);
			fill(line, name, h('span', { class: 'more' }, more));
			fill(told, h('dl', {}, facts(l10n, state).map(([name, value]) => [h('dt', {}, name), h('dd', {}, value)])), notices(state));
			showSkips(state.skipped);
			if (!syncing) {
				showProgress(state.running);
			}
			return !state.running && state.vectors.done >= state.vectors.total;
		}
		catch (error) {
			if (life.aborted) {
				return true;
			}
			fill(line, say('library-away'));
			fill(told, h('p', { class: 'status away' }, reasonOf(l10n, error)));
			return !error.isPassing;
		}
	}

	function showProgress(running) {
		let isWorking = Boolean(running) && running.phase !== 'done' && running.phase !== 'failed';
		show(status, Boolean(running));
		show(progress, isWorking);
		// Vectors are computed behind everything else and cannot be stopped.
		show(stop, isWorking && running.phase !== 'vectors');
		status.className = running?.phase === 'failed' && !running.isWanted ? 'status failed' : 'status';
		if (!running) {
			return;
		}
		fill(status, progressText(l10n, running));
		if (running.total) {
			progress.max = running.total;
			progress.value = running.done;
		}
		else {
			progress.removeAttribute('value');
		}
	}

	async function bringUpToDate(wish) {
		syncing?.abort();
		let controller = new AbortController();
		syncing = controller;
		update.disabled = true;
		try {
			for await (let frame of gateway.sync(wish, { signal: controller.signal })) {
				showProgress(frame.event === 'error' ? failureOf(frame.data) : frame.data);
			}
		}
		catch (error) {
			if (!controller.signal.aborted) {
				showProgress(failureOf(error));
			}
		}
		finally {
			syncing = null;
			update.disabled = false;
		}
		if (!life.aborted) {
			await refresh();
		}
	}

	/** A sync that somebody stopped has not failed. */
	function failureOf(error) {
		return { phase: 'failed', error: reasonOf(l10n, error), isWanted: error.code === 'SYNC_STOPPED' };
	}

	async function stopReading() {
		stop.disabled = true;
		try {
			await gateway.send('POST', '/library/sync/stop');
		}
		catch (error) {
			showProgress(failureOf(error));
		}
		finally {
			stop.disabled = false;
		}
	}

	function showSkips(skipped) {
		// Redrawn only when it differs: a list that somebody reads must not fold up under their eyes.
		let text = JSON.stringify(skipped);
		if (text === shownSkips) {
			return;
		}
		shownSkips = text;
		let groups = skipsByReason(l10n, skipped);
		fill(skips, groups.length > 0 && [
			h('h3', {}, say('skipped', { documents: skipped.length })),
			groups.map(skipGroup),
			h('p', { class: 'actions' }, quiet(say('retry-skipped'), () => bringUpToDate({ retry_failed: true }))),
		]);
	}

	function skipGroup({ name, remedy, skips: list }) {
		return h(
			'details',
			{ class: 'skipped', open: list.length < FEW_SKIPS },
			h('summary', {}, say('skip-group', { name, documents: list.length })),
			remedy && h('p', { class: 'remedy' }, remedy),
			h('ul', {}, list.slice(0, MOST_IN_GROUP).map(skipItem)),
			list.length > MOST_IN_GROUP && h('p', { class: 'notice' }, say('scope-more', { more: list.length - MOST_IN_GROUP })),
		);
	}

	function skipItem(skip) {
		let title = h('cite', {}, skip.title || skip.item_key);
		let { host } = context;
		let shown = host.selectItem && skip.item_key ? quiet(title, () => host.selectItem(skip.library, skip.item_key)) : title;
		return h('li', {}, shown, skip.detail ? h('p', { class: 'notice' }, skip.detail) : null);
	}

	life.addEventListener('abort', () => {
		looking.abort();
		syncing?.abort();
	});
	return { line, node, refresh };
}

function notices({ sources }) {
	let told = sources.flatMap(source => source.notices ?? []);
	return told.length > 0 && h('ul', { class: 'warnings' }, told.map(text => h('li', {}, text)));
}
