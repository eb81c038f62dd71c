// Zotero's libraries and objects by the names that the gateway has for them, and back.

/** `user` or `groups/<id>`; null for what cannot be searched (feeds, publications). */
export function libraryName({ Zotero }, libraryID) {
	let library = Zotero.Libraries.get(libraryID);
	if (library?.libraryType === 'user') {
		return 'user';
	}
	return library?.libraryType === 'group' ? `groups/${Zotero.Groups.getGroupIDFromLibraryID(libraryID)}` : null;
}

/** The local id of a library by its name, or null when it is not here. */
export function libraryID({ Zotero }, name) {
	if (name === 'user') {
		return Zotero.Libraries.userLibraryID;
	}
	let group = /^groups\/(\d{1,18})$/.exec(name)?.[1];
	return group && Zotero.Groups.getLibraryIDFromGroupID(Number(group)) || null;
}

/** The item of a library's name and a key, or null when it is not here. */
export async function findItem(env, library, key) {
	let id = key && libraryID(env, library);
	return id && await env.Zotero.Items.getByLibraryAndKeyAsync(id, key) || null;
}

/** The item that stands for an attachment, note or annotation in lists. */
export function topItem(item) {
	return item.topLevelItem ?? item.parentItem ?? item;
}
