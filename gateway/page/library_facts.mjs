// What the state of the library means in words, and what to do about what was not read. Pure but for the words.

// What a person can do about a text that was not read; for other reasons there is nothing but the reason.
const REMEDIES = new Set(['file_missing', 'encrypted', 'image_only', 'damaged', 'too_large', 'timed_out', 'base_folder_unknown', 'changing', 'no_unicode_map']);
const REASONS = new Set([...REMEDIES, 'unsupported_type', 'outside_library']);

/** The library in one line. */
export function lineText({ say }, { sources: [source], counts, vectors }) {
	if (!source) {
		return { name: say('library-none'), more: '' };
	}
	let name = say('library-line', { kind: source.demo ? 'demo' : 'zotero', documents: counts.documents });
	return { name, more: vectors.done < vectors.total ? ` · ${say('library-vectors', vectors)}` : '' };
}

/** Names and values of what there is to know; only those that have a value. */
export function facts({ say, number, moment }, state) {
	let [source] = state.sources;
	let { counts, vectors } = state;
	return [
		['source', source ? say('source-kind', { kind: source.demo ? 'demo' : source.kind }) : say('source-none')],
		['folder', source?.location],
		['program', source?.program],
		['synced', state.synced_at ? moment(state.synced_at) : say('never')],
		['items', number(counts.items)],
		['documents', number(counts.documents)],
		['full', number(counts.read_in_full)],
		['part', number(counts.read_in_part)],
		['abstract', number(counts.abstract_only)],
		['unreadable', number(counts.unreadable)],
		['vectors', say('of', { value: vectors.done, limit: vectors.total })],
		['encoder', state.encoder],
		...modelFacts(state.models),
		['last-error', state.last_error],
	].filter(([, value]) => value).map(([name, value]) => [say(`fact-${name}`), value]);
}

/** The models behind the answers; none where they are not to be learned now. */
function modelFacts(models) {
	if (!models) {
		return [];
	}
	return [
		['ranking', models.ranking?.name],
		['support', models.support?.name],
		['search-agent', models.search_agent],
		['writer', models.writer],
	];
}

/** How far a sync is. */
export function progressText({ say }, { phase, done, total, current, error }) {
	if (phase === 'failed') {
		return error ?? say('sync-failed');
	}
	if (phase === 'done') {
		return say('sync-done');
	}
	let text = total ? say('sync-phase-count', { phase, done, total }) : say('sync-phase', { phase });
	return current ? `${text}: ${current}` : text;
}

/** What was not read by its reason, the most frequent first: `{reason, name, remedy, skips}`. */
export function skipsByReason({ say }, skipped) {
	let groups = new Map();
	for (let skip of skipped) {
		groups.set(skip.reason, [...groups.get(skip.reason) ?? [], skip]);
	}
	return [...groups].map(([reason, skips]) => ({
		reason,
		name: REASONS.has(reason) ? say('reason', { reason }) : reason,
		remedy: REMEDIES.has(reason) ? say('remedy', { reason }) : null,
		skips,
	})).sort((one, other) => other.skips.length - one.skips.length);
}
