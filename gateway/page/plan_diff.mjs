// What changed between two texts, word by word. Pure.

// The table of a comparison has a cell for each pair of words; beyond this many the change is told as a whole.
const MOST_CELLS = 4_000_000;

/** Runs of text: `{kind: 'same' | 'removed' | 'added', text}`, in reading order. */
export function difference(before, after) {
	let old = words(before);
	let now = words(after);
	let start = 0;
	while (start < old.length && start < now.length && old[start] === now[start]) {
		start++;
	}
	let end = 0;
	while (end < old.length - start && end < now.length - start && old[old.length - 1 - end] === now[now.length - 1 - end]) {
		end++;
	}
	let middle = compared(old.slice(start, old.length - end), now.slice(start, now.length - end));
	let same = list => list.map(text => ({ kind: 'same', text }));
	return joined([...same(old.slice(0, start)), ...middle, ...same(old.slice(old.length - end))]);
}

/** Whether anything differs. */
export function hasChanged(parts) {
	return parts.some(part => part.kind !== 'same');
}

/** Words with the white space that follows them. */
function words(text) {
	return text.match(/\s+|\S+\s?/g) ?? [];
}

function compared(old, now) {
	if (old.length * now.length > MOST_CELLS) {
		return [...old.map(text => ({ kind: 'removed', text })), ...now.map(text => ({ kind: 'added', text }))];
	}
	let lengths = commonLengths(old, now);
	let width = now.length + 1;
	let parts = [];
	let i = 0;
	let j = 0;
	while (i < old.length || j < now.length) {
		if (i < old.length && j < now.length && old[i] === now[j]) {
			parts.push({ kind: 'same', text: old[i] });
			i++;
			j++;
		}
		else if (i < old.length && (j === now.length || lengths[(i + 1) * width + j] >= lengths[i * width + j + 1])) {
			parts.push({ kind: 'removed', text: old[i++] });
		}
		else {
			parts.push({ kind: 'added', text: now[j++] });
		}
	}
	return parts;
}

/** For each pair of places, how long the longest common sequence of what follows is. */
function commonLengths(old, now) {
	let width = now.length + 1;
	let lengths = new Uint16Array((old.length + 1) * width);
	for (let i = old.length - 1; i >= 0; i--) {
		for (let j = now.length - 1; j >= 0; j--) {
			lengths[i * width + j] = old[i] === now[j]
				? lengths[(i + 1) * width + j + 1] + 1
				: Math.max(lengths[(i + 1) * width + j], lengths[i * width + j + 1]);
		}
	}
	return lengths;
}

function joined(parts) {
	let runs = [];
	for (let part of parts) {
		let last = runs[runs.length - 1];
		if (last?.kind === part.kind) {
			last.text += part.text;
		}
		else {
			runs.push({ ...part });
		}
	}
	return runs;
}
