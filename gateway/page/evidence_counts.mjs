// How much of each paper an answer rests on. Pure.

/**
 * One entry for each item that the search found: how many passages of it were found and how many of those are cited,
 * the most cited first.
 */
export function evidenceByPaper(steps, citations) {
	let papers = new Map();
	let paperOf = (library, key, title) => {
		let id = `${library}/${key}`;
		if (!papers.has(id)) {
			papers.set(id, { id, title, found: new Set(), cited: new Set() });
		}
		return papers.get(id);
	};
	for (let step of steps) {
		for (let passage of step.result?.passages ?? []) {
			if (passage.item) {
				paperOf(passage.item.library, passage.item.key, passage.title).found.add(passage.passage_id);
			}
		}
	}
	for (let citation of citations) {
		let paper = paperOf(citation.library, citation.item_key, citation.title);
		paper.found.add(citation.passage_id);
		paper.cited.add(citation.passage_id);
	}
	return [...papers.values()]
		.map(({ id, title, found, cited }) => ({ id, title, found: found.size, cited: cited.size, passages: [...cited] }))
		.sort((one, other) => other.cited - one.cited || other.found - one.found || one.title.localeCompare(other.title));
}

/** How many of a paper's cited passages stand in each section; `sections` knows the section of a passage. */
export function citedBySection({ passages }, sections) {
	let counts = new Map();
	for (let passage of passages) {
		let name = sections.get(passage) ?? '';
		counts.set(name, (counts.get(name) ?? 0) + 1);
	}
	return [...counts].map(([name, cited]) => ({ name, cited })).sort((one, other) => other.cited - one.cited);
}
