// What went wrong with a request, and how that is told.

/** The gateway answered with an error, or (status 0) cannot be reached. */
export class Refusal extends Error {
	constructor(status, code, text) {
		super(text);
		this.status = status;
		this.code = code;
	}

	/** Whether the same request may work later. */
	get isPassing() {
		return this.status === 0 || this.status === 503 || this.status === 504;
	}
}

/** The error in the language of the interface where there are words for it, else in the gateway's own. */
export function reasonOf({ say, knows }, { code, message }) {
	let id = `error-${String(code ?? '').toLowerCase().replaceAll('_', '-')}`;
	return knows(id) ? say(id) : message;
}
