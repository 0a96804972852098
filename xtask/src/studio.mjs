// Drives the studio in Chromium by the WebDriver protocol: fills forms, drags a bar, reads answers and
// compares them with the command, looks at all pages in three widths and two themes.
//
// Environment: STUDIO and DRIVER are addresses, ONEREAD the command, AXE the script of axe-core, OUT a
// folder for screenshots.

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const { STUDIO, DRIVER, ONEREAD, AXE, OUT } = process.env;
const PAGES = ['choose', 'filter', 'table', 'store', 'papers'];
const WIDTHS = [400, 900, 1600];
const THEMES = ['light', 'dark'];
const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf';

function demand(is, message) {
  if (!is) throw new Error(message);
}

async function post(path, body = {}) {
  const response = await fetch(DRIVER + path, { method: 'POST', body: JSON.stringify(body) });
  const { value } = await response.json();
  demand(response.ok, `${path}: ${value?.message}`);
  return value;
}

const session = await post('/session', {
  capabilities: {
    alwaysMatch: {
      browserName: 'chrome',
      'goog:chromeOptions': {
        args: ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run',
          '--disable-background-networking', '--disable-component-update', '--window-size=1600,1200'],
      },
      'goog:loggingPrefs': { browser: 'ALL' },
    },
  },
});
const at = `/session/${session.sessionId}`;

const run = (script, ...args) => post(`${at}/execute/sync`, { script, args });
const runAsync = (script, ...args) => post(`${at}/execute/async`, { script, args });
const devtools = (cmd, params) => post(`${at}/goog/cdp/execute`, { cmd, params });
const open = (path) => post(`${at}/url`, { url: STUDIO + path });
const find = (css) => post(`${at}/element`, { using: 'css selector', value: css });
const elementPath = (element) => `${at}/element/${element[ELEMENT]}`;
const text = (css) => run('return document.querySelector(arguments[0])?.textContent ?? ""', css);

async function until(what, is) {
  for (let tries = 0; tries < 300; tries++) {
    if (await is()) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`waited in vain: ${what}; the headline is: ${await text('#headline')}`);
}

const click = async (css) => post(`${elementPath(await find(css))}/click`);

/// Types into a field, as a user does: selects what it holds, and types over it.
async function type(css, value) {
  const element = await find(css);
  await post(`${elementPath(element)}/clear`);
  if (value !== '') await post(`${elementPath(element)}/value`, { text: value });
}

/// Waits until the answer is the one of the present form.
async function answered() {
  await new Promise((resolve) => setTimeout(resolve, 400));
  await until('an answer', () => run(`
    const form = document.querySelector('form[data-live]');
    const filled = [...new FormData(form)].filter(([, value]) => value.trim() !== '');
    return location.search === '?' + new URLSearchParams(filled) && !document.querySelector('[aria-busy]')`));
}

/// Runs a command line, and returns its document.
function command(line) {
  demand(line.startsWith('oneread '), `no command line: ${line}`);
  const output = execFileSync('sh', ['-c', `"$ONEREAD" ${line.slice('oneread '.length)} --json`]);
  return JSON.parse(output);
}

/// Compares every number of the page with what the command prints that the page shows to copy.
async function compare(expected) {
  const line = await text('#code-shell');
  demand(line === expected, `the command line is\n${line}\nand not\n${expected}`);
  const printed = command(line);
  const shown = await run(`
    return [...document.querySelectorAll('#answer dd[data-field]')].map((of) => [of.dataset.field, of.dataset.value])`);
  demand(shown.length > 4, `only ${shown.length} numbers are shown`);
  for (const [field, value] of shown) {
    demand(JSON.stringify(printed[field]) === JSON.stringify(JSON.parse(value)),
      `${field} is ${value} on the page, and ${JSON.stringify(printed[field])} on the command line`);
  }
  return printed;
}

async function complaints(where) {
  const log = await post(`${at}/se/log`, { type: 'browser' });
  demand(log.length === 0, `${where}: the browser complains: ${JSON.stringify(log)}`);
}

// Choose: the answer follows the form, without a button.
await open('/choose');
await type('#rate', '0.001');
await click('#delete');
await answered();
const chosen = await compare('oneread plan solve filter --items 1e6 --rate 0.001 --delete');
demand((await text('.ranking tbody th')) === chosen.structure, 'the first of the ranking is not the best');
await click('[data-copy=code-shell]');
await until('it says that it copied', async () => /Copied|Selected/.test(await text('#status')));
await click('#measure');
await answered();
demand(/\d+ \/ \d+/.test(await text('.ranking tbody tr')), 'no times are measured');

// Impossible needs say what to relax.
await open('/choose?items=1e6&rate=0.01&delete=on&one_page=on');
demand(/without delete, or it without one_page/.test(await text('.wrong')), await text('#headline'));

// Filter: bits from keys and rate, then keys from bits and rate.
await open('/filter');
await type('#rate', '0.002');
await answered();
await compare('oneread plan bloom --items 1e6 --rate 0.002');
await type('#items', '');
await type('#bits', '8e6');
await answered();
await compare('oneread plan bloom --bits 8e6 --rate 0.002');

// Table: a dragged bar and a pressed key change the numbers.
await open('/table');
const bar = await find('[data-bar=level-0]');
const { width } = await post(`${at}/execute/sync`, { script: 'return arguments[0].getBoundingClientRect()', args: [bar] });
const level = () => run('return document.getElementById("level-0").value');
const share = await run('return arguments[0].value / arguments[0].max', bar);
const from = Math.round(width * (share - 0.5));
await post(`${at}/actions`, {
  actions: [{
    type: 'pointer', id: 'mouse', parameters: { pointerType: 'mouse' },
    actions: [
      { type: 'pointerMove', origin: bar, x: from, y: 0 },
      { type: 'pointerDown', button: 0 },
      { type: 'pointerMove', origin: bar, x: from + 10, y: 0, duration: 50 },
      { type: 'pointerMove', origin: bar, x: from + Math.round(width / 20), y: 0, duration: 50 },
      { type: 'pointerUp', button: 0 },
    ],
  }],
});
await answered();
const dragged = Number(await level());
demand(dragged > 80_000, `the bar was dragged to ${dragged}`);
await compare(`oneread plan multilevel --items 10000 --slots 1 --levels ${dragged},10000,5000,2500,2500`);
await post(`${elementPath(bar)}/value`, { text: '\uE012' });
await answered();
demand(Number(await level()) < dragged, 'the left key does not shorten the bar');
await click('#simulate');
await type('#trials', '20');
await answered();
const table = await level();
const simulated = command(`oneread simulate table --items 10000 --levels ${table},10000,5000,2500,2500 --slots 1 --trials 20`);
const stash = await run('return document.querySelector("[data-field=simulated_stash]").dataset.value');
demand(JSON.parse(stash) === simulated.end_stash, `the stash is ${stash}, and ${simulated.end_stash} on the command line`);

// Store: memory in, reads out.
await open('/store');
await type('#reads_per_miss', '');
await type('#ram_bytes', '64M');
await answered();
await compare('oneread plan solve store --items 1e8 --key-bytes 16 --value-bytes 100 --ram-bytes 64M');
const cost = await text('.costs');
await type('#requests', '0.001');
await answered();
demand((await text('.costs')) !== cost, 'another price costs the same');
await complaints('the forms');

// All pages, in all widths and themes.
const axe = readFileSync(AXE, 'utf8');
for (const page of PAGES) {
  for (const theme of THEMES) {
    await devtools('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: theme }] });
    for (const width of WIDTHS) {
      const where = `${page}, ${width} pixels, ${theme}`;
      await devtools('Emulation.setDeviceMetricsOverride', { width, height: 1000, deviceScaleFactor: 1, mobile: false });
      await open(page === 'table' ? '/table?items=1000&level=4000&level=1000&level=500&simulate=on&trials=10' : `/${page}`);
      const [overflow, foreign, paper] = await run(`
        const colour = getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number);
        const loaded = performance.getEntriesByType('resource').map((of) => of.name);
        return [document.documentElement.scrollWidth - innerWidth,
          loaded.filter((name) => !name.startsWith(location.origin) && !name.startsWith('data:')), colour[0]]`);
      demand(overflow <= 0, `${where}: it is ${overflow} pixels too wide`);
      demand(foreign.length === 0, `${where}: it loads ${foreign}`);
      demand((paper < 128) === (theme === 'dark'), `${where}: its background is ${paper}`);
      await run(axe);
      const faults = await runAsync(`
        const done = arguments[0];
        axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => done(violations
          .filter((of) => ['serious', 'critical'].includes(of.impact))
          .map((of) => of.id + ': ' + of.nodes.slice(0, 3).map((node) => node.target + ' ' + node.failureSummary).join('; '))))`);
      demand(faults.length === 0, `${where}: ${faults.join('\n')}`);
      await complaints(where);
      const { cssContentSize } = await devtools('Page.getLayoutMetrics', {});
      const clip = { x: 0, y: 0, width, height: Math.min(cssContentSize.height, 4000), scale: 1 };
      const shot = await devtools('Page.captureScreenshot', { format: 'png', captureBeyondViewport: true, clip });
      writeFileSync(`${OUT}/${page}-${width}-${theme}.png`, Buffer.from(shot.data, 'base64'));
    }
  }
}
demand((await run('return document.querySelectorAll("svg.picture").length')) >= 10, 'the papers have hardly any pictures');
await fetch(DRIVER + at, { method: 'DELETE' });
console.log(`${PAGES.length} pages, ${WIDTHS.length} widths, ${THEMES.length} themes: as they should be`);
