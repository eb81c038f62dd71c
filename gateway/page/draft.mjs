// What is being written, kept while the sidebar goes from one place to another, or the page is loaded again.

/**
 * Let a field keep what is written into it. `about` says what that is for: a text about something else is not put
 * there. Gives `keep`, for when the field was changed by something else than typing.
 */
export function keepDraft({ host }, field, name, about) {
	let keep = () => host.setRemembered(name, field.value ? `${about}\n${field.value}` : '');
	let kept = host.remember(name) ?? '';
	if (!field.value && kept.startsWith(`${about}\n`)) {
		field.value = kept.slice(about.length + 1);
	}
	field.addEventListener('input', keep);
	return keep;
}

/** What a comment on a checkpoint is about. */
export function aboutCheckpoint(run, checkpoint) {
	return `${run} ${checkpoint.interrupt_id}`;
}
