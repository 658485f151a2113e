// What Gradio's parts lack for those who hear the page or use its keys: names that say what they belong to, states, and
// a way into what scrolls. All of it is done anew whenever the page has changed, and changes nothing twice.
const set = (element, values) => {
    for (const [name, value] of Object.entries(values)) {
        if (value === null ? element.hasAttribute(name) : element.getAttribute(name) !== String(value))
            value === null ? element.removeAttribute(name) : element.setAttribute(name, value);
    }
};
const wordsOf = element => (element?.textContent || '').replace(/\s+/g, ' ').trim();
const titleOf = element => wordsOf(element.closest('.block')?.querySelector(
    '[data-testid=block-label], [data-testid=block-info], legend, label span'));
const headingOf = element => {
    const before = [...document.querySelectorAll('h1, h2, h3, h4')]
        .filter(heading => heading.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING);
    return wordsOf(element.querySelector('h3, h4') || before.at(-1));
};
const mends = {
    // An upload is named after its box, and the words on it stay in the name.
    '.upload-container': part => set(part, {'aria-label': `${titleOf(part)}: ${wordsOf(part).replaceAll(' - ', ' ')}`}),
    '.block [aria-label="Copy"], .block [aria-label="Reset to default value"], .block a[download] > [aria-label="Download"]':
        part => {
            set(part, {'aria-label': `${part.getAttribute('aria-label')}: ${titleOf(part)}`});
            if (part.parentElement.matches('a')) set(part, {tabindex: -1}); // the link around it has the focus
        },
    '.cm-content[aria-label="Code input container"]': part => set(part, {'aria-label': titleOf(part)}),
    '.copy_code_button[title="copy"]': part => set(part, {'aria-label': 'Copy the code', title: 'Copy the code'}),
    // Whether a part is open; the arrow beside its name is no part of the name.
    '.gr-accordion > .label-wrap': part => {
        const content = part.parentElement.querySelector('[data-testid=accordion-content]');
        set(part, {'aria-expanded': getComputedStyle(content).display !== 'none'});
        for (const arrow of part.querySelectorAll('.icon')) set(arrow, {'aria-hidden': true});
    },
    '[role=tablist]:not([aria-label])': part => set(part, {'aria-label': headingOf(part)}),
    '[role=tabpanel][id]': part => set(part, {'aria-labelledby': `${part.id}-button`}),
    '.mm-figure [role="graphics-document"]': part => set(part, {role: 'img', 'aria-roledescription': null}),
    'svg:not([aria-hidden]):not([aria-label]):not(.marks)': part => set(part, {'aria-hidden': true}),
    'footer img': part => set(part, {alt: ''}),
    // A message is a button with a button in it: the one that closes it is enough.
    '.toast-header[role]': part => set(part, {role: null, tabindex: null}),
    // What went wrong stays on the page when the message has gone.
    ':is(#status, #measures_status, #score) [data-testid=status-tracker] > .error': part => {
        const said = wordsOf([...document.querySelectorAll('.toast-message-text.error')].at(-1));
        if (said && !part.dataset.said) { part.dataset.said = 'yes'; part.textContent = said; }
    },
    // A list of choices scrolls, so that Tab would go into it; it closes then, and the focus would be lost.
    'ul[role=listbox]': part => set(part, {tabindex: -1}),
    // The keys reach what scrolls, and nothing that does not.
    '.mm-wide, .mm-sides section, .prose pre, .cm-scroller': part => {
        const scrolls = part.scrollWidth > part.clientWidth + 1 || part.scrollHeight > part.clientHeight + 1;
        const code = part.matches('.cm-scroller');
        const title = code ? titleOf(part) : part.matches('pre') ? 'Code' : headingOf(part);
        set(part, scrolls ? {tabindex: 0, role: 'group', 'aria-label': title}
            : {tabindex: code ? -1 : null, role: null, 'aria-label': null});
    },
};
let mending = 0;
const mend = () => {
    mending = 0;
    for (const [parts, mended] of Object.entries(mends)) document.querySelectorAll(parts).forEach(mended);
};
const mendSoon = () => { mending ||= setTimeout(mend, 50); };
new MutationObserver(mendSoon).observe(document.body, {childList: true, subtree: true});
for (const event of ['click', 'resize', 'keyup']) addEventListener(event, mendSoon);
mend();
