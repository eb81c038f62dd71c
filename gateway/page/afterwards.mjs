// What can be taken along from an answer: a note, Markdown, BibTeX, CSL.

import { fill, h, quiet } from './elements.mjs';
import { bibtexOf, citedItems, cslOf, markdownOf } from './bibliography.mjs';

/** The row of buttons below an answer; what the host cannot do is not offered. */
export function createAfterwards({ l10n, host }, view) {
	let { say } = l10n;
	let { answer } = view;
	let told = h('span', { class: 'told', role: 'status' });
	let markdown = () => markdownOf(view.prompt, answer, {
		sources: say('sources'),
		page: say('page-short'),
		noPages: say('no-pages'),
		support: support => say('support', { support }),
	});

	/** Do something and say that it is done, or why not. */
	function doing(act, done) {
		return async () => {
			fill(told, '');
			try {
				let result = await act();
				fill(told, result?.where ? say(`${done}-at`, { where: result.where }) : say(done));
			}
			catch (error) {
				fill(told, say('failed', { reason: error.message }));
			}
		};
	}

	/** The host knows more of its items than a citation does. */
	async function items(format, fromCitations) {
		let refs = citedItems(answer.citations).map(({ library, item_key: key }) => ({ library, key }));
		return host.exportItems ? host.exportItems(refs, format) : fromCitations(answer.citations);
	}

	let copy = (id, text) => quiet(say(id), doing(async () => host.copyText(await text()), 'copied'));
	let save = () => host.saveNote({ title: view.prompt, markdown: answer.markdown, citations: answer.citations, invocationId: view.invocationId });
	return h(
		'div',
		{ class: 'afterwards', role: 'group', 'aria-label': say('take-along') },
		host.saveNote && quiet(say('save-note'), doing(save, 'saved')),
		copy('copy-markdown', markdown),
		answer.citations.length > 0 && copy('copy-bibtex', () => items('bibtex', bibtexOf)),
		answer.citations.length > 0 && copy('copy-csl', () => items('csl-json', cslOf)),
		told,
	);
}
