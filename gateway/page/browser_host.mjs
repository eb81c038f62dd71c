// What the sidebar needs from where it runs, in a browser: the gateway that served the page, and the browser's stores.

const KEY = 'zocrates-key';
const REMEMBERED = 'zocrates-';
// Of this tab alone: another one asks something else.
const BEING_WRITTEN = new Set(['draft', 'guidance']);
const SESSION = /^#session=([0-9a-f]{32})$/;

/** The host of the page. What it lacks (opening a PDF, saving a note) is not offered. */
export function createBrowserHost() {
	return {
		kind: 'page',
		locales: navigator.languages,
		localeBase: new URL('./locale/', import.meta.url).href,

		/** Reach the gateway. */
		fetch(path, init) {
			let key = sessionStorage.getItem(KEY);
			let headers = key ? { ...init.headers, 'X-API-Key': key } : init.headers;
			return fetch(path, { ...init, headers, credentials: 'omit', cache: 'no-store' });
		},

		/** The token of a one-time address, once; the address does not keep it, whatever comes of it. */
		takeLink() {
			let token = /^#link=(.+)$/.exec(location.hash)?.[1] ?? null;
			if (token) {
				history.replaceState(null, '', location.pathname);
			}
			return token;
		},

		/** Keep the key as long as this tab. */
		keepKey(key) {
			sessionStorage.setItem(KEY, key);
		},

		/** What was remembered under a name; the open session stands in the address, so that it can be a bookmark. */
		remember(name) {
			return name === 'session' ? SESSION.exec(location.hash)?.[1] ?? null : storeOf(name).getItem(REMEMBERED + name);
		},

		/** Remember something under a name. */
		setRemembered(name, text) {
			if (name === 'session') {
				history.replaceState(null, '', text ? `#session=${text}` : location.pathname);
				return;
			}
			storeOf(name).setItem(REMEMBERED + name, text);
		},

		/** Put a text on the clipboard. */
		copyText: text => navigator.clipboard.writeText(text),
	};
}

function storeOf(name) {
	return BEING_WRITTEN.has(name) ? sessionStorage : localStorage;
}
