'use strict';
// The types say what the module has.

const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { test } = require('node:test');
const { NotificationClient } = require('..');

const PACKAGE = path.join(__dirname, '..');

test('the types and the module export the same names', () => {
  const types = fs.readFileSync(path.join(PACKAGE, 'index.d.ts'), 'utf8');
  const names = [...types.matchAll(/^export (?:declare )?(?:class|const|function) (\w+)/gm)].map(([, name]) => name);
  assert.deepEqual(names.sort(), Object.keys(require('..')).sort());
});

test('the types describe every member of the client, and no other', () => {
  const types = fs.readFileSync(path.join(PACKAGE, 'index.d.ts'), 'utf8');
  const [, body] = /^export declare class NotificationClient[^\n]*\{\n(.*?)^\}/ms.exec(types);
  const typed = new Set([...body.matchAll(/^ {2}(?:readonly )?(\w+)[(:<]/gm)].map(([, name]) => name));
  const members = Object.getOwnPropertyNames(NotificationClient.prototype);
  for (const event of ['on', 'once', 'off', 'emit']) typed.delete(event);
  assert.deepEqual([...typed].sort(), members.sort());
});
