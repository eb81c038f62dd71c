import assert from 'node:assert/strict';
import { test } from 'node:test';

import { checked, createAddress, dataFolders } from '../../zotero-plugin/content/address.mjs';

let scope = ({ os = 'Linux', variables = {}, files = {} } = {}) => ({
	Components: { interfaces: { nsIFile: {} } },
	PathUtils: { join: (...parts) => parts.join('/') },
	IOUtils: { exists: async path => path in files, readJSON: async path => JSON.parse(files[path]) },
	Services: {
		appinfo: { OS: os },
		dirsvc: { get: () => ({ path: '/home/ada' }) },
		env: { get: name => variables[name] ?? '' },
	},
});
let settings = (values = {}) => ({ get: name => values[name] ?? '' });
let runFile = (port, key = 'k') => JSON.stringify({ base_url: `http://127.0.0.1:${port}`, api_key: key, state: 'ready' });
let USUAL = '/home/ada/.local/share/zocrates/run.json';

test('the run file tells address and key', async () => {
	let address = createAddress(scope({ files: { [USUAL]: runFile(8080) } }), settings());
	assert.deepEqual(await address.current(), { base: 'http://127.0.0.1:8080', key: 'k' });
});

test('without a run file nothing is running', async () => {
	let address = createAddress(scope(), settings());
	assert.equal(await address.current(), null);
});

test('after a restart of the service the new address is found', async () => {
	let files = { [USUAL]: runFile(8080) };
	let address = createAddress(scope({ files }), settings());
	await address.current();
	assert.equal(await address.renew(), false);
	files[USUAL] = runFile(9090);
	assert.equal((await address.current()).base, 'http://127.0.0.1:8080');
	assert.equal(await address.renew(), true);
	assert.equal((await address.current()).base, 'http://127.0.0.1:9090');
});

test('what is set goes before the run file', async () => {
	let address = createAddress(scope({ files: { [USUAL]: runFile(8080) } }), settings({ address: 'https://z.example/', key: ' own ' }));
	assert.deepEqual(await address.current(), { base: 'https://z.example', key: 'own' });
});

test('a damaged run file is told, not taken for none', async () => {
	await assert.rejects(createAddress(scope({ files: { [USUAL]: '{' } }), settings()).current(), /cannot be read/);
	await assert.rejects(createAddress(scope({ files: { [USUAL]: '{}' } }), settings()).current(), /names no address/);
});

test('the key goes to no other machine without encryption', () => {
	assert.throws(() => checked('http://z.example', { isLocal: false }), /not taken/);
	assert.throws(() => checked('https://z.example', { isLocal: true }), /not taken/);
	assert.throws(() => checked('file:///etc', { isLocal: false }), /not taken/);
	assert.throws(() => checked('zotero', { isLocal: false }), /no address/);
	assert.equal(checked('http://localhost:8080/x', { isLocal: true }), 'http://localhost:8080');
});

test('each system has its own folders, and a named one goes before all', () => {
	assert.deepEqual([...dataFolders(scope())], ['/home/ada/.local/share/zocrates', '/var/lib/zocrates']);
	assert.deepEqual([...dataFolders(scope({ os: 'Darwin' }))], ['/home/ada/Library/Application Support/zocrates', '/Library/Application Support/zocrates']);
	assert.deepEqual([...dataFolders(scope({ os: 'WINNT', variables: { LOCALAPPDATA: 'C:/L', ProgramData: 'C:/P' } }))], ['C:/L/zocrates', 'C:/P/zocrates']);
	assert.deepEqual([...dataFolders(scope({ variables: { ZOCRATES_DATA: '/d' } }))], ['/d']);
});
