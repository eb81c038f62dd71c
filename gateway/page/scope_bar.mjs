// The chips above the composer that say which part of the library is searched.

import { fill, h, quiet, show } from './elements.mjs';
import { Refusal, reasonOf } from './refusal.mjs';
import { countQuery, idOf, lasting, readChips, toggled } from './scope_choice.mjs';
import { createScopePicker } from './scope_picker.mjs';

// What Zotero shows comes narrowest first: what is selected, then where it stands.
const MOST_OFFERS = 2;

/** The bar and the sheet it opens; `chips()` are those in force, `offer` reads anew what the host shows. */
export function createScopeBar(context) {
	let { l10n, gateway, host, life } = context;
	let { say } = l10n;
	let chips = readChips(host.remember('scope'));
	let list = h('ul', { class: 'chips', 'aria-label': say('scope') });
	let total = h('span', { class: 'numbers scope-total', role: 'status' });
	let picker = createScopePicker(context, { chips: () => chips, onToggle: toggle });
	let offers = h('span', { class: 'offers' });
	let open = quiet('', picker.open, { 'class': 'quiet scope-open', 'aria-haspopup': 'dialog' });
	let node = h('div', { class: 'scope' }, list, offers, open, total);
	let asking = 0;
	let hasOffered = false;

	function set(next) {
		chips = next;
		host.setRemembered('scope', JSON.stringify(lasting(chips)));
		draw();
	}

	function toggle(chip) {
		set(toggled(chips, chip));
	}

	function draw() {
		fill(list, chips.map(chip => h('li', { class: `scope-chip ${chip.kind}` }, chipText(say, chip), quiet('×', () => toggle(chip), {
			'class': 'quiet remove',
			'aria-label': say('scope-remove', { title: chip.title }),
		}))));
		show(list, chips.length > 0);
		fill(open, say(chips.length ? 'scope-change' : 'scope-all'));
		showTotal();
	}

	/** How much several chips hold together only the index knows. */
	async function showTotal() {
		asking += 1;
		let asked = asking;
		fill(total);
		let query = chips.length > 1 && countQuery(chips);
		if (!query) {
			return;
		}
		try {
			let { count } = await gateway.read(`/library/documents?${query}`);
			if (asked === asking) {
				fill(total, say('scope-total', { items: count.items }));
			}
		}
		catch (error) {
			if (asked === asking) {
				fill(total, reasonOf(l10n, error));
			}
		}
	}

	/** What the program around us shows now, to be taken with one click; taken by itself where that is preferred. */
	async function offer() {
		let shown = await Promise.all((await host.currentScope?.() ?? []).map(counted));
		picker.offer(shown);
		if (!hasOffered && !chips.length && shown.length && host.remember('defaultScope') === 'shown') {
			// The view that is open, rather than what happens to be selected in it.
			set([shown.find(chip => chip.kind !== 'items' && chip.kind !== 'text') ?? shown[0]]);
		}
		hasOffered = true;
		let mostUseful = shown.filter(one => !chips.some(chip => idOf(chip) === idOf(one))).slice(0, MOST_OFFERS);
		fill(offers, mostUseful.map(chip => quiet(`+ ${chipLabel(say, chip)}`, () => {
			toggle(chip);
			fill(offers);
		}, { class: 'quiet offer' })));
	}

	/** With its count as the index has it, where the host knows none. */
	async function counted(chip) {
		let query = chip.count === null || chip.count === undefined ? countQuery([chip]) : null;
		if (!query) {
			return chip;
		}
		try {
			return { ...chip, count: (await gateway.read(`/library/documents?${query}`)).count.items };
		}
		catch (error) {
			// Not in the index yet, or the index is away: the choice is still there, without a number.
			if (error instanceof Refusal || life.aborted) {
				return { ...chip, count: null };
			}
			throw error;
		}
	}

	draw();
	return {
		node,
		sheet: picker.node,
		chips: () => chips,
		offer,
		/** A selected text is for one question. */
		afterQuestion: () => chips.length > lasting(chips).length && set(lasting(chips)),
	};
}

function chipText(say, chip) {
	return h('span', { class: 'scope-title', title: chip.title }, chipLabel(say, chip));
}

function chipLabel(say, { kind, title, count }) {
	return count === undefined || count === null || kind === 'paper' || kind === 'text'
		? say('scope-chip', { kind, title })
		: say('scope-chip-count', { kind, title, count });
}
