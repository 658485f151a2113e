// A result that came is scrolled to (without an animation for those who want none), and the keyboard goes with it if it
// was at a button; the line that says so, a live region, is read out. A stopped run leaves no such line.
document.querySelectorAll('#status, #measures_status').forEach(part => part.setAttribute('aria-live', 'polite'));
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
// The query that the server made of the settings becomes a whole address, here and in the address bar.
window.mauveLink = query => {
    if (query.includes('://')) return [query];
    const kept = [...new URLSearchParams(location.search)].filter(([name]) => name.startsWith('__'));
    const own = new URLSearchParams([...kept, ...new URLSearchParams(query)]).toString();
    history.replaceState(null, '', location.pathname + (own ? '?' + own : ''));
    return [location.origin + location.pathname + (query ? '?' + query : '')];
};
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
