// Which links may be followed.

/** The address if it is one of Zotero's or the web's, else null. */
export function safeLink(uri) {
	return /^(zotero|https?):\/\//i.test(uri ?? '') ? uri : null;
}

/** The address behind a link of an answer: a DOI has its resolver's, what is not safe has none. */
export function linkTarget(uri) {
	return /^doi:/i.test(uri) ? `https://doi.org/${encodeURI(uri.slice(4).trim())}` : safeLink(uri);
}
