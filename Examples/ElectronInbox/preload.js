'use strict';
// The only functions that the page has.

const { contextBridge, ipcRenderer } = require('electron');

contextBridge.exposeInMainWorld('inbox', {
  view: () => ipcRenderer.invoke('inbox:view'),
  register: () => ipcRenderer.invoke('inbox:register'),
  ask: () => ipcRenderer.invoke('inbox:ask'),
  clear: () => ipcRenderer.invoke('inbox:clear'),
  onChange: (action) => { ipcRenderer.on('inbox:changed', (_, view) => action(view)); },
});
