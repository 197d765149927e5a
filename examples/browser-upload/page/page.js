import { uploadContent } from '../../../sdk/src/index.ts';

const [input, type, list, status, template] = ['files', 'type', 'uploads', 'status', 'upload'].map((id) =>
  document.getElementById(id),
);
const drop = document.querySelector('.drop');
const percent = new Intl.NumberFormat('en', { style: 'percent' });

const FAILURES = {
  content_type_mismatch: 'the content is not what the name says',
  empty: 'the file is empty',
  infected: 'a virus was found',
  too_large: 'the file is too large',
  upload_expired: 'the upload took too long',
};

function sizeOf(bytes) {
  const [unit, divisor] =
    bytes < 1e6 ? ['kilobyte', 1e3] : bytes < 1e9 ? ['megabyte', 1e6] : ['gigabyte', 1e9];
  const format = new Intl.NumberFormat('en', { style: 'unit', unit, maximumFractionDigits: 1 });
  return format.format(Math.max(bytes / divisor, 0.1));
}

async function call(path, init) {
  const response = await fetch(path, init);
  const body = await response.json();
  if (!response.ok) throw new Error(body.message ?? `HTTP ${response.status}`);
  return body;
}

function createFile(file) {
  const body = { type: type.value, filename: file.name, content_type: file.type };
  const headers = { 'content-type': 'application/json' };
  return call('/files', { method: 'POST', headers, body: JSON.stringify(body) });
}

/** Shows one file, and sends it until it is completed, failed or cancelled. */
function add(file) {
  const item = template.content.firstElementChild.cloneNode(true);
  const [progress, state, cancel, retry] = ['progress', '.state', '.cancel', '.retry'].map((selector) =>
    item.querySelector(selector),
  );
  item.querySelector('.name').textContent = file.name;
  item.querySelector('.size').textContent = sizeOf(file.size);
  progress.setAttribute('aria-label', `Upload of ${file.name}`);
  cancel.setAttribute('aria-label', `Cancel ${file.name}`);
  retry.setAttribute('aria-label', `Try again: ${file.name}`);
  let created;
  let sending;

  function show(name, text, { announce = true } = {}) {
    item.dataset.state = name;
    state.textContent = text;
    cancel.hidden = name !== 'uploading';
    retry.hidden = name !== 'error' && name !== 'cancelled';
    if (announce) status.textContent = `${file.name}: ${text}`;
  }

  async function send() {
    sending = new AbortController();
    progress.value = 0;
    show('uploading', 'Uploading');
    try {
      // A repeated upload uses the same URL, until it expires.
      created ??= await createFile(file);
      await uploadContent(created.upload_url, file, {
        signal: sending.signal,
        onProgress({ sentBytes, totalBytes }) {
          progress.value = totalBytes === 0 ? 1 : sentBytes / totalBytes;
          show('uploading', `Uploading, ${percent.format(progress.value)}`, { announce: false });
        },
      }).catch((error) => {
        // The file was cancelled or failed when its content had arrived.
        if (error.messageCode !== 'upload_completed') throw error;
      });
      show('checking', 'Checking the content');
      const { state, failure_code } = await call(`/files/${created.guid}`);
      if (state === 'completed') show('completed', 'Completed');
      else show('failed', `Refused: ${FAILURES[failure_code] ?? failure_code}`);
    } catch (error) {
      if (error === sending.signal.reason) return show('cancelled', 'Cancelled');
      if (error.messageCode === 'upload_expired') created = undefined;
      show('error', `Not uploaded: ${error.message}`);
    }
  }

  cancel.addEventListener('click', () => sending.abort());
  retry.addEventListener('click', send);
  list.prepend(item);
  document.getElementById('uploads-title').hidden = false;
  void send();
}

input.addEventListener('change', () => {
  for (const file of input.files) add(file);
  // The same file can be chosen again.
  input.value = '';
});
for (const name of ['dragover', 'dragleave', 'drop'])
  drop.addEventListener(name, (event) => {
    event.preventDefault();
    drop.classList.toggle('over', name === 'dragover');
    if (name === 'drop') for (const file of event.dataTransfer.files) add(file);
  });
