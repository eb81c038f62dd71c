// The only way out: requests go to the gateway and to nothing else.

/**
 * A fetch for paths of the gateway, over the fetch of the window or sandbox it is used in. Rejects with a
 * TypeError when the gateway cannot be reached or is not running, as fetch does.
 */
export function createDoor({ fetch, address }) {
	return async function request(path, { method = 'GET', headers = {}, body, signal } = {}) {
		let found = await address();
		if (!found) {
			throw new TypeError('Zocrates is not running on this machine.');
		}
		let url = new URL(path, found.base);
		if (!path.startsWith('/') || url.origin !== found.base) {
			throw new Error(`${JSON.stringify(path)} is no path of the gateway.`);
		}
		return fetch(url.href, {
			method,
			headers: { ...headers, 'X-API-Key': found.key },
			body,
			signal,
			cache: 'no-store',
			credentials: 'omit',
			// The key must not follow a redirection to somebody else.
			redirect: 'error',
			referrerPolicy: 'no-referrer',
		});
	};
}
