// The library: one line about its state, and a sheet with what was read and what was not.

import { count, fill, h, plural, show } from './elements.mjs';
import { read, sync } from './gateway.mjs';

const REASONS = {
	file_missing: 'File missing',
	encrypted: 'Encrypted',
	image_only: 'Pictures only, no text',
	damaged: 'Damaged file',
	unsupported_type: 'Kind of file not supported',
	too_large: 'Too large',
	timed_out: 'Took too long',
	base_folder_unknown: 'Base folder unknown',
	outside_library: 'Outside the library',
	no_unicode_map: 'Text without a character map',
};
const PHASES = { snapshot: 'Reading the library', text: 'Reading texts', vectors: 'Computing vectors' };
const LOOK_AGAIN_MS = 3000;

/** The line (a button) and the sheet it opens; `refresh` reads the state anew. */
export function createLibrary() {
	let line = h('button', { type: 'button', class: 'quiet library-line', 'aria-haspopup': 'dialog', onclick: () => node.showModal() }, 'Library…');
	let facts = h('div');
	let progress = h('p', { class: 'status', role: 'status' });
	let update = h('button', { type: 'button', onclick: bringUpToDate }, 'Bring up to date');
	let close = h('button', { type: 'button', class: 'close', 'aria-label': 'Close', onclick: () => node.close() }, '×');
	let node = h(
		'dialog',
		{ class: 'sheet', 'aria-labelledby': 'library-title', onclick: event => event.target === node && node.close() },
		h('header', {}, h('h2', { id: 'library-title' }, 'Library'), close),
		facts, progress, update,
	);
	let timer = null;

	/** Questions about earlier runs work without the library, so its absence is told, not thrown. */
	async function refresh() {
		clearTimeout(timer);
		let isSettled = false;
		try {
			let state = await read('/library');
			fill(line, lineText(state));
			fill(facts, factList(state));
			showProgress(state.running);
			isSettled = !state.running && state.vectors.done >= state.vectors.total;
		}
		catch (error) {
			fill(line, 'Library: away');
			fill(facts, h('p', { class: 'status away' }, error.message));
			isSettled = !error.isPassing;
		}
		if (!isSettled) {
			timer = setTimeout(refresh, LOOK_AGAIN_MS);
		}
	}

	function showProgress(running) {
		show(progress, Boolean(running));
		if (running) {
			fill(progress, progressText(running));
		}
	}

	async function bringUpToDate() {
		update.disabled = true;
		try {
			for await (let frame of sync()) {
				showProgress(frame.event === 'error' ? { phase: 'failed', error: frame.data.message } : frame.data);
			}
			await refresh();
		}
		catch (error) {
			showProgress({ phase: 'failed', error: error.message });
		}
		finally {
			update.disabled = false;
		}
	}

	return { line, node, refresh };
}

function progressText({ phase, done, total, current, error }) {
	if (phase === 'failed') {
		return error ?? 'The library could not be read.';
	}
	if (phase === 'done') {
		return 'Up to date.';
	}
	let numbers = total ? ` ${count(done)} of ${count(total)}` : '';
	return `${PHASES[phase] ?? phase}${numbers}${current ? `: ${current}` : ''}`;
}

function lineText(state) {
	let [source] = state.sources;
	if (!source) {
		return 'No library';
	}
	let name = source.demo ? 'Demo library' : 'Zotero library';
	let parts = [name, plural(state.counts.documents, 'document')];
	if (state.vectors.done < state.vectors.total) {
		parts.push(`vectors ${count(state.vectors.done)} of ${count(state.vectors.total)}`);
	}
	return parts.join(' · ');
}

function factList(state) {
	let [source] = state.sources;
	let { counts, vectors } = state;
	let rows = [
		['Source', source ? (source.demo ? 'Invented demo library' : 'Zotero data folder') : 'none'],
		['Folder', source?.location],
		['Last read', state.synced_at ? new Date(state.synced_at).toLocaleString() : 'not yet'],
		['Items', count(counts.items)],
		['Read in full', plural(counts.read_in_full, 'document')],
		['Read in part', plural(counts.read_in_part, 'document')],
		['Abstract only', plural(counts.abstract_only, 'document')],
		['Unreadable', plural(counts.unreadable, 'document')],
		['Vectors', `${count(vectors.done)} of ${plural(vectors.total, 'passage')}`],
		['Last error', state.last_error],
	];
	return [
		h('dl', {}, rows.filter(([, value]) => value).map(([name, value]) => [h('dt', {}, name), h('dd', {}, value)])),
		skipList(state.skipped),
	];
}

function skipList(skipped) {
	if (!skipped.length) {
		return null;
	}
	return h(
		'details',
		{ class: 'skipped', open: skipped.length < 8 },
		h('summary', {}, `Not read, or not all of it: ${plural(skipped.length, 'document')}`),
		h('ul', {}, skipped.map(skip => h(
			'li',
			{},
			h('strong', {}, REASONS[skip.reason] ?? skip.reason),
			' ',
			h('cite', {}, skip.title || skip.item_key),
			skip.detail ? h('p', { class: 'notice' }, skip.detail) : null,
		))),
	);
}
