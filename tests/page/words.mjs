// The words of the interface, for tests.

import { readFileSync } from 'node:fs';

import { createL10n } from '../../gateway/page/l10n.mjs';

/** The text of a language's file. */
export function wordsOf(language) {
	return readFileSync(new URL(`../../gateway/page/locale/${language}/sidebar.ftl`, import.meta.url), 'utf8');
}

export let english = createL10n('en-US', [wordsOf('en-US')]);
export let german = createL10n('de', [wordsOf('de'), wordsOf('en-US')]);
