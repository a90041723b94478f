'use strict';
// Electron's main process: one window, and the inbox. The page has no access to Node.

const fs = require('node:fs');
const path = require('node:path');
const { app, BrowserWindow, ipcMain } = require('electron');
const { NotificationClient } = require('aldaba');
const { Inbox } = require('./inbox');

const APP = process.env.ALDABA_APP_ID ?? 'com.example.inbox';

function makeWindow() {
  const window = new BrowserWindow({
    width: 640,
    height: 480,
    webPreferences: {
      preload: path.join(__dirname, 'preload.js'), contextIsolation: true, nodeIntegration: false, sandbox: true,
    },
  });
  window.webContents.setWindowOpenHandler(() => ({ action: 'deny' }));
  window.webContents.on('will-navigate', (event) => event.preventDefault());
  window.loadFile(path.join(__dirname, 'index.html'));
  return window;
}

function makeClient(handlers) {
  const file = process.env.INBOX_SECRET;
  return new NotificationClient({ app: APP, secret: file && fs.readFileSync(file, 'utf8'), ...handlers });
}

function start() {
  const window = makeWindow();
  const inbox = new Inbox({
    makeClient,
    ipcMain,
    window: {
      isFocused: () => !window.isDestroyed() && window.isFocused(),
      show: () => { if (!window.isDestroyed()) window.show(); },
      tell: (view) => { if (!window.isDestroyed()) window.webContents.send('inbox:changed', view); },
    },
  });
  app.on('second-instance', () => window.show());
  app.on('window-all-closed', () => inbox.stop().then(() => app.quit()));
  return inbox.start();
}

// A second process of the app would take the first one's place at the agent.
if (app.requestSingleInstanceLock()) app.whenReady().then(start);
else app.quit();
