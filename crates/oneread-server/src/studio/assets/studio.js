// Plans while a form changes. Without this script its button does the same.
'use strict';

document.documentElement.classList.add('has-script');

// A bar is as long as the logarithm of its number: this many steps for each power of ten.
const STEPS = 100;

const form = document.querySelector('form[data-live]');
const answer = document.getElementById('answer');
const status = document.getElementById('status');

function rounded(buckets) {
  // Three digits, as many as a bar can tell.
  return Math.max(1, Math.round(Number(buckets.toPrecision(3))));
}

function fill(bar) {
  bar.style.setProperty('--fill', `${(100 * bar.value) / bar.max}%`);
  bar.setAttribute('aria-valuetext', `${document.getElementById(bar.dataset.bar).value} buckets`);
}

function query() {
  const filled = [...new FormData(form)].filter(([, value]) => value.trim() !== '');
  return new URLSearchParams(filled).toString();
}

let turn = 0;
let timer = 0;

async function plan() {
  const mine = ++turn;
  const address = `${location.pathname}?${query()}`;
  answer.setAttribute('aria-busy', 'true');
  try {
    const response = await fetch(address);
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    if (mine !== turn) return;
    answer.replaceChildren(...page.getElementById('answer').childNodes);
    status.textContent = document.getElementById('headline')?.textContent ?? '';
    history.replaceState(null, '', address);
  } catch {
    if (mine === turn) status.textContent = 'The studio does not answer: is it still running?';
  } finally {
    if (mine === turn) answer.removeAttribute('aria-busy');
  }
}

if (form) {
  for (const bar of form.querySelectorAll('[data-bar]')) {
    const number = document.getElementById(bar.dataset.bar);
    bar.addEventListener('input', () => {
      number.value = rounded(10 ** (bar.value / STEPS));
      fill(bar);
    });
    number.addEventListener('input', () => {
      const buckets = Number(number.value.replaceAll('_', ''));
      if (buckets >= 1) bar.value = Math.round(STEPS * Math.log10(buckets));
      fill(bar);
    });
    fill(bar);
  }
  form.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(plan, 250);
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    clearTimeout(timer);
    plan();
  });
}

document.addEventListener('click', async (event) => {
  const button = event.target.closest?.('button[data-copy]');
  if (!button) return;
  const code = document.getElementById(button.dataset.copy);
  try {
    await navigator.clipboard.writeText(code.textContent);
    status.textContent = 'Copied.';
    button.classList.add('copied');
    setTimeout(() => button.classList.remove('copied'), 1500);
  } catch {
    // Selected, so that a key copies it.
    getSelection().selectAllChildren(code);
    status.textContent = 'Selected: copy it with the keyboard.';
  }
});
