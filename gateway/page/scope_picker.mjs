// The sheet where the part of the library to search is chosen, each choice with its exact count.

import { fill, h, show } from './elements.mjs';
import { pause } from './gateway.mjs';
import { reasonOf } from './refusal.mjs';
import { idOf } from './scope_choice.mjs';
import { createSheet } from './sheet.mjs';

const TYPING_MS = 200;
const MOST_PAPERS = 20;
const MOST_IN_GROUP = 60;

/** The sheet; `onToggle(chip)` is told of each choice, `offer` sets what the host shows now. */
export function createScopePicker(context, { chips, onToggle }) {
	let { l10n, gateway } = context;
	let { say } = l10n;
	let find = h('input', { type: 'search', class: 'scope-find', placeholder: say('scope-find'), 'aria-label': say('scope-find'), oninput: searchSoon });
	let groups = h('div', { class: 'scope-groups' });
	let trouble = h('p', { class: 'status failed', role: 'alert', hidden: true });
	let { node } = createSheet(context, 'scope', say('scope'), h('p', { class: 'notice' }, say('scope-hint')), find, trouble, groups);
	let offered = [];
	let held = [];
	let papers = [];
	let typing = new AbortController();

	async function open() {
		node.showModal();
		redraw();
		await reading(async () => {
			held = chipsOf(l10n, await gateway.read('/library/collections'));
		});
	}

	async function reading(read) {
		try {
			await read();
			show(trouble, false);
		}
		catch (error) {
			fill(trouble, reasonOf(l10n, error));
			show(trouble, true);
		}
		redraw();
	}

	async function searchSoon() {
		typing.abort();
		typing = new AbortController();
		let { signal } = typing;
		redraw();
		await pause(TYPING_MS, signal);
		let query = find.value.trim();
		if (signal.aborted) {
			return;
		}
		await reading(async () => {
			let found = query ? await gateway.read(`/library/documents?${new URLSearchParams({ query, limit: MOST_PAPERS })}`) : { documents: [] };
			if (!signal.aborted) {
				papers = papersOf(found.documents);
			}
		});
	}

	function redraw() {
		if (!node.open) {
			return;
		}
		let words = find.value.trim().toLocaleLowerCase().split(/\s+/);
		let fits = chip => words.every(word => chip.title.toLocaleLowerCase().includes(word));
		let chosen = new Set(chips().map(idOf));
		let group = (kind, list) => groupOf(context, kind, list, chosen, onToggle);
		fill(
			groups,
			group('offered', offered.filter(fits)),
			['library', 'collection', 'search', 'tag'].map(kind => group(kind, held.filter(chip => chip.kind === kind && fits(chip)))),
			group('paper', papers),
		);
	}

	return {
		node,
		open,
		offer(list) {
			offered = list;
			redraw();
		},
	};
}

function groupOf({ l10n: { say } }, kind, list, chosen, onToggle) {
	if (!list.length) {
		return null;
	}
	return h(
		'fieldset',
		{},
		h('legend', {}, say('scope-group', { kind })),
		list.slice(0, MOST_IN_GROUP).map(chip => h(
			'label',
			{ class: 'choice' },
			h('input', { type: 'checkbox', checked: chosen.has(idOf(chip)), disabled: chip.isUnsupported, onchange: () => onToggle(chip) }),
			h('span', { class: 'scope-title' }, chip.title, chip.detail && h('small', {}, chip.detail)),
			chip.count !== undefined && h('span', { class: 'numbers' }, say('items', { items: chip.count })),
		)),
		list.length > MOST_IN_GROUP && h('p', { class: 'notice' }, say('scope-more', { more: list.length - MOST_IN_GROUP })),
	);
}

/** What the gateway says a scope can name. */
function chipsOf({ say }, { libraries, collections, saved_searches: searches, tags }) {
	let names = new Map(collections.map(one => [one.collection, one]));
	let path = (one) => {
		let parent = names.get(one.parent ?? '');
		return parent ? `${path(parent)} › ${one.name}` : one.name;
	};
	let counted = (chip, { count }) => ({ ...chip, count: count.items });
	return [
		...libraries.map(one => counted({ kind: 'library', library: one.library, title: one.title }, one)),
		...collections.map(one => counted({ kind: 'collection', ...parted(one.collection), title: path(one) }, one)),
		...searches.map(one => ({
			...counted({ kind: 'search', ...parted(one.saved_search), title: one.name }, one),
			...one.unsupported.length && { isUnsupported: true, detail: say('scope-unsupported', { conditions: one.unsupported.join(', ') }) },
		})),
		...tags.map(one => counted({ kind: 'tag', library: one.library, tag: one.tag, title: one.tag }, one)),
	];
}

/** The library and the key of a path: a group's library has a slash of its own. */
function parted(path) {
	let cut = path.lastIndexOf('/');
	return { library: path.slice(0, cut), key: path.slice(cut + 1) };
}

function papersOf(documents) {
	let items = new Map(documents.map(one => [`${one.library}/${one.item_key}`, one]));
	return [...items.values()].map(one => ({
		kind: 'paper',
		library: one.library,
		key: one.item_key,
		title: one.title,
		detail: [one.creators.join(', '), one.year].filter(Boolean).join(', '),
	}));
}
