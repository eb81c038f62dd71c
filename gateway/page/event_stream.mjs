// Server-sent events from the chunks of a response body.

/**
 * A parser that is fed text and returns the frames completed by it. Copes with frames and line ends
 * split anywhere, CR, LF and CRLF, comments, and fields without a space.
 */
export function createParser() {
	let pending = '';
	let frame = emptyFrame();

	return function feed(text) {
		let frames = [];
		let lines = (pending + text).split(/\r\n|\n|\r(?!$)/);
		// The last piece has no line end yet; a CR at its end may be half of a CRLF.
		pending = lines.pop();
		for (let line of lines) {
			if (line === '') {
				if (frame.data.length) {
					frames.push({ id: frame.id, event: frame.event, data: frame.data.join('\n') });
				}
				frame = emptyFrame();
				continue;
			}
			let colon = line.indexOf(':');
			if (colon === 0) {
				continue;
			}
			let name = colon < 0 ? line : line.slice(0, colon);
			let value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
			if (name === 'data') {
				frame.data.push(value);
			}
			else if (name === 'event' || name === 'id') {
				frame[name] = value;
			}
		}
		return frames;
	};
}

function emptyFrame() {
	return { id: null, event: 'message', data: [] };
}

/** The frames of a response, with their data read as JSON; a frame cut off by the end is dropped. */
export async function* readFrames(response) {
	let reader = response.body.getReader();
	let decoder = new TextDecoder();
	let feed = createParser();
	try {
		while (true) {
			let { done, value } = await reader.read();
			if (done) {
				return;
			}
			for (let frame of feed(decoder.decode(value, { stream: true }))) {
				yield { ...frame, data: JSON.parse(frame.data) };
			}
		}
	}
	finally {
		// Ends the request when the reader leaves early; a broken one is ended already.
		reader.cancel().catch(() => {});
	}
}
