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
document.querySelectorAll('#measures_status, #boundary_shown, #boundary_said')
    .forEach(part => part.setAttribute('aria-live', 'polite'));
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
