// Where the service is and which key opens it: as the settings say, else as its run file says.

const RUN_FILE = 'run.json';
const LOOPBACK = new Set(['127.0.0.1', 'localhost']);

/** The address of the gateway; `current` finds it once, `renew` looks again and tells whether it is another. */
export function createAddress(env, settings) {
	let known = null;

	async function find() {
		let address = settings.get('address').trim();
		if (address) {
			return { base: checked(address, { isLocal: false }), key: settings.get('key').trim() };
		}
		for (let folder of dataFolders(env)) {
			let found = await readRunFile(env, env.PathUtils.join(folder, RUN_FILE));
			if (found) {
				return found;
			}
		}
		return null;
	}

	return {
		/** `{base, key}`, or null when no service is running; throws when what is set makes no sense. */
		async current() {
			known ??= await find();
			return known;
		},

		async renew() {
			let before = known;
			known = await find();
			return known !== null && (known.base !== before?.base || known.key !== before?.key);
		},

		forget() {
			known = null;
		},
	};
}

/** The origin of an address, which may be any over https but only this machine over http. */
export function checked(address, { isLocal }) {
	let url;
	try {
		url = new URL(address);
	}
	catch {
		throw new Error(`${JSON.stringify(address)} is no address; one looks like http://127.0.0.1:8080`);
	}
	let isLoopback = LOOPBACK.has(url.hostname);
	if (!isLoopback && (isLocal || url.protocol !== 'https:') || !['http:', 'https:'].includes(url.protocol)) {
		throw new Error(`${url.href} is not taken: over http only this machine is trusted with the key.`);
	}
	return url.origin;
}

async function readRunFile({ IOUtils }, path) {
	if (!await IOUtils.exists(path)) {
		return null;
	}
	let content;
	try {
		content = await IOUtils.readJSON(path);
	}
	catch (error) {
		throw new Error(`${path} cannot be read; start the service again.`, { cause: error });
	}
	if (typeof content?.base_url !== 'string' || typeof content?.api_key !== 'string') {
		throw new Error(`${path} names no address and key; start the service again.`);
	}
	return { base: checked(content.base_url, { isLocal: true }), key: content.api_key };
}

/** The folders in which the service keeps its data, as it chooses them itself on each system. */
export function* dataFolders({ Services, Components, PathUtils }) {
	let named = Services.env.get('ZOCRATES_DATA');
	if (named) {
		yield named;
		return;
	}
	let home = Services.dirsvc.get('Home', Components.interfaces.nsIFile).path;
	if (Services.appinfo.OS === 'WINNT') {
		yield PathUtils.join(Services.env.get('LOCALAPPDATA') || PathUtils.join(home, 'AppData', 'Local'), 'zocrates');
		yield PathUtils.join(Services.env.get('ProgramData') || 'C:\\ProgramData', 'zocrates');
	}
	else if (Services.appinfo.OS === 'Darwin') {
		yield PathUtils.join(home, 'Library', 'Application Support', 'zocrates');
		yield '/Library/Application Support/zocrates';
	}
	else {
		// A Zotero in a sandbox of its own has another XDG_DATA_HOME than the service.
		let own = Services.env.get('XDG_DATA_HOME');
		if (own) {
			yield PathUtils.join(own, 'zocrates');
		}
		yield PathUtils.join(home, '.local', 'share', 'zocrates');
		yield '/var/lib/zocrates';
	}
}
