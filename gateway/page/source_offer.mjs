// Inside Zotero: one click to let the service ask the running Zotero, and to read the library that is open here.

import { fill, h, show } from './elements.mjs';
import { reasonOf } from './refusal.mjs';

/** The offer; empty where the host is no Zotero. `onChosen` is told when the service reads from another place. */
export function createSourceOffer({ l10n, gateway, host }, { onChosen }) {
	let { say } = l10n;
	let status = h('p', { class: 'status', role: 'status', hidden: true });
	let text = h('p');
	let allow = h('button', { type: 'button', onclick: () => doing(useLocalApi) }, say('allow-local-api'));
	let folder = h('button', { type: 'button', class: 'second', onclick: () => doing(useFolder) }, say('use-this-folder'));
	let node = h('section', { class: 'source-offer', hidden: true }, text, h('p', { class: 'actions' }, allow, folder), status);

	async function useLocalApi() {
		await host.allowLocalApi();
		await gateway.send('PUT', '/library/source', { kind: 'local_api' });
	}

	async function useFolder() {
		let { dataDir } = await host.describeZotero();
		await gateway.send('PUT', '/library/source', { kind: 'sqlite', data_dir: dataDir });
	}

	async function doing(act) {
		allow.disabled = folder.disabled = true;
		try {
			await act();
			tell(say('source-chosen'), 'status');
			await refresh();
			onChosen();
		}
		catch (error) {
			tell(reasonOf(l10n, error), 'status failed');
		}
		finally {
			allow.disabled = folder.disabled = false;
		}
	}

	function tell(what, className) {
		status.className = className;
		fill(status, what);
		show(status, true);
	}

	async function refresh() {
		if (!host.describeZotero) {
			return;
		}
		let isAllowed = await host.isLocalApiAllowed();
		fill(text, say(isAllowed ? 'local-api-allowed' : 'local-api-offer'));
		fill(allow, say(isAllowed ? 'use-local-api' : 'allow-local-api'));
		show(node, true);
	}

	return { node, refresh };
}
