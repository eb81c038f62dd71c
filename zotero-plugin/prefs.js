// Empty address and key: both are found in the service's run file.
pref('extensions.zotero.zocrates.address', '');
pref('extensions.zotero.zocrates.key', '');
pref('extensions.zotero.zocrates.shortcut', 'accel+shift+Y');
pref('extensions.zotero.zocrates.defaultScope', 'library');
pref('extensions.zotero.zocrates.isIntroduced', false);
