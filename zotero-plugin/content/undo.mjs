// What was added is remembered with how to remove it.

/** A list of removals; `run` does each once, the latest first, whatever fails. */
export function createUndo(report) {
	let steps = [];
	return {
		add(step) {
			steps.push(step);
		},
		run() {
			while (steps.length) {
				try {
					steps.pop()();
				}
				catch (error) {
					report(error);
				}
			}
		},
	};
}
