// What a person chose for their questions: how deep, with which reviews. Pure.

export const STRATEGIES = ['usual', 'quick', 'standard', 'deep', 'academic'];

const DEFAULT = { strategy: 'usual', reviewsPlan: false, asksBeforeExtending: true };

/** The choices as they were remembered; what is missing or not understood is as at first. */
export function readChoices(text) {
	let known;
	try {
		known = JSON.parse(text ?? '{}');
	}
	catch {
		// Written by something else: not a reason to refuse questions.
		known = {};
	}
	return {
		strategy: STRATEGIES.includes(known?.strategy) ? known.strategy : DEFAULT.strategy,
		reviewsPlan: known?.reviewsPlan === true,
		asksBeforeExtending: known?.asksBeforeExtending !== false,
	};
}

/** The options of a question: only what differs from what the service does by itself; undefined for nothing. */
export function optionsOf({ strategy, reviewsPlan, asksBeforeExtending }) {
	let options = {
		...strategy !== 'usual' && { strategy },
		...reviewsPlan && { review_plan: true },
		...!asksBeforeExtending && { hitl_enabled: false },
	};
	return Object.keys(options).length ? options : undefined;
}

/** How many of the choices are not as at first. */
export function countChosen(choices) {
	return Object.keys(DEFAULT).filter(name => choices[name] !== DEFAULT[name]).length;
}
