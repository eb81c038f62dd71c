// The rows of the session list as plain values. Pure.

/** A list that was not read yet; `doing` is what is being done to the row with the id. */
export function newRows() {
	return { sessions: [], cursor: null, query: '', selected: null, row: null };
}

/** The list after a page of it was read; a later page is added. */
export function withPage(rows, { sessions, next_cursor }, { isMore = false } = {}) {
	let all = isMore ? [...rows.sessions, ...sessions] : sessions;
	let isThere = all.some(session => session.id === rows.row?.id);
	return { ...rows, sessions: all, cursor: next_cursor, row: isThere ? rows.row : null };
}

/** Begin to rename a session (with its title to change) or to ask whether to delete it. */
export function beginning(rows, id, doing) {
	let { title } = rows.sessions.find(session => session.id === id);
	return { ...rows, row: { id, doing, title, isBusy: false, refusal: null } };
}

/** What is being done with something of it changed. */
export function changing(rows, changes) {
	return { ...rows, row: rows.row && { ...rows.row, ...changes } };
}

/** Nothing is being done any more. */
export function left(rows) {
	return { ...rows, row: null };
}

/** A session has another title; its place stays. */
export function renamed(rows, { id, title }) {
	let sessions = rows.sessions.map(session => (session.id === id ? { ...session, title } : session));
	return { ...rows, sessions, row: null };
}

/** A session is no more. */
export function deleted(rows, id) {
	let selected = rows.selected === id ? null : rows.selected;
	return { ...rows, sessions: rows.sessions.filter(session => session.id !== id), selected, row: null };
}

/** The name of what to say instead of an empty list, or null. */
export function emptiness(rows) {
	if (rows.sessions.length) {
		return null;
	}
	return rows.query ? 'no-such-session' : 'no-sessions';
}
