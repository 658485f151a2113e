// What a run does is read out at its start, at quarters of its way, and at its end: not at every step.
const said = Object.assign(document.createElement('p'), {id: 'said', role: 'status'});
document.querySelector('.gradio-container').append(said);
let quarter = -1;
const readOut = () => {
    const at = document.querySelector('#run [data-testid=status-tracker]:not(.hide):not(:has(.error))');
    if (!at) {
        quarter = -1;
        const ended = document.querySelector('#status p, #status .error')?.textContent || '';
        if (said.textContent !== ended) said.textContent = ended;
        return;
    }
    const now = Math.floor((at.textContent.match(/([\d.]+)\s*%/)?.[1] || 0) / 25);
    if (now <= quarter) return;
    quarter = now;
    said.textContent = now ? `Comparing: ${25 * now} % done` : 'Comparing';
};
new MutationObserver(readOut).observe(document.body, {childList: true, subtree: true, characterData: true});
// A result that came is scrolled to (without an animation for those who want none), and the keyboard goes with it if it
// was at a button. A stopped run leaves no such line.
document.querySelectorAll('#measures_status, #boundary_shown, #boundary_said')
    .forEach(part => part.setAttribute('aria-live', 'polite'));
window.mauveShowResult = () => {
    requestAnimationFrame(() => requestAnimationFrame(() => {
        const outcome = document.querySelector('#outcome');
        if (!outcome || !document.querySelector('#status [data-result]')) return;
        const calm = window.matchMedia('(prefers-reduced-motion: reduce)').matches;
        const at = document.activeElement;
        if (!at || at === document.body || at.tagName === 'BUTTON') {
            outcome.setAttribute('tabindex', '-1');
            outcome.setAttribute('role', 'region');
            outcome.setAttribute('aria-label', 'Result');
            outcome.focus({preventScroll: true});
        }
        outcome.scrollIntoView({behavior: calm ? 'auto' : 'smooth', block: 'start'});
    }));
    return [];
};
// Files leave their box when they are answered for: one that is chosen in that moment stays until its own answer.
const sent = [];
window.mauveSent = values => {
    sent.push((values.at(-1) || []).map(file => file.path));
    return values;
};
window.mauveAnswered = files => {
    const answered = sent.shift() || [], left = (files || []).filter(file => !answered.includes(file.path));
    return [left.length ? left : null];
};
let reading = 0;  // files of the human box that are not answered for
window.mauveReading = (change, values) => {
    reading += change;
    return values;
};
// A comparison waits for the files on their way and for the answers to them, for five minutes at most: a busy server may
// begin it before an earlier request. The model's box is empty when its files are answered for.
const pause = milliseconds => new Promise(done => setTimeout(done, milliseconds));
window.mauveUploaded = async values => {
    const end = Date.now() + 3e5;
    const onTheirWay = '#human_file .uploading, #model_file :is(.uploading, .file-preview)';
    const arriving = () => Date.now() < end && (reading > 0 || document.querySelector(onTheirWay));
    while (arriving()) {
        while (arriving()) await pause(50);
        await pause(200);
    }
    return values;
};
// The file to download is saved at once; its link stays.
window.mauveDownload = () => {
    requestAnimationFrame(() => requestAnimationFrame(() => document.querySelector('#files a[download]')?.click()));
    return [];
};
// The query that the server made of the settings becomes a whole address, here and in the address bar.
window.mauveLink = query => {
    if (query.includes('://')) return [query];
    const kept = [...new URLSearchParams(location.search)].filter(([name]) => name.startsWith('__'));
    const own = new URLSearchParams([...kept, ...new URLSearchParams(query)]).toString();
    history.replaceState(null, '', location.pathname + (own ? '?' + own : ''));
    return [location.origin + location.pathname + (query ? '?' + query : '')];
};
// The browser asks before texts or a result of the visitor's own are left, and before judgements that it does not store.
const holdsOwn = () => {
    const texts = document.querySelector('#human_preview li, [id^=model_][id$=_preview] li');
    const pasted = [...document.querySelectorAll('#human_paste textarea, #model_paste textarea')].some(box => box.value);
    const result = document.querySelector('#score strong') && !document.querySelector('#about p');
    return Boolean(texts || pasted || result);
};
window.addEventListener('beforeunload', event => {
    if (holdsOwn() || document.querySelector('#judge_unsaved p')) event.preventDefault();
});
window.addEventListener('pagehide', () => {
    if (!document.querySelector('#compare')) return;
    try { sessionStorage.setItem('mauve_metric_held', holdsOwn() ? 'yes' : ''); } catch {}
});
// A cure that names a control opens the panels that hold it, one in the other, and goes to it.
const openControl = async names => {
    const here = document.querySelector(`#${names.at(-1)}_here input`);  // the same choice, beside the verdict
    for (const panel of here ? [] : names.slice(0, -1)) {
        const button = document.querySelector(`#${panel} > button[aria-expanded]`);
        if (button?.getAttribute('aria-expanded') === 'false') button.click();
    }
    for (let frame = 0; frame < 120; frame++) {
        const control = here || document.querySelector(`#${names.at(-1)} :is(input, textarea)`);
        if (control) {
            control.focus();
            control.scrollIntoView({block: 'center'});
            return;
        }
        await new Promise(requestAnimationFrame);
    }
};
window.addEventListener('hashchange', () => {
    if (!location.hash.startsWith('CONTROL_LINK')) return;
    openControl(location.hash.slice('CONTROL_LINK'.length).split('/'));
    history.replaceState(null, '', location.pathname + location.search);
});
// A .json file that is dropped beside every box goes to the box of results.
const dropped = event => [...(event.dataTransfer?.files || [])].filter(file => file.name.endsWith('.json'));
const elsewhere = event => [...(event.dataTransfer?.types || [])].includes('Files')
    && !event.target.closest?.('#human_file, #model_file, #open_result');
document.addEventListener('dragover', event => { if (elsewhere(event)) event.preventDefault(); });
document.addEventListener('drop', event => {
    const box = document.querySelector('#open_result input[type=file]');
    if (!elsewhere(event)) return;
    event.preventDefault();
    if (!box || dropped(event).length !== 1) return;
    const files = new DataTransfer();
    files.items.add(dropped(event)[0]);
    box.files = files.files;
    box.dispatchEvent(new Event('change', {bubbles: true}));
});
