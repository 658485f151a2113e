// A click on a mark of a figure follows its link, which leads to a bucket: its number goes into a hidden box, with
// the time, so that a second click on a bucket is a change too. The texts of the bucket come into view, at once and
// again when they have changed, and have the focus.
const link = 'BUCKET_LINK';
let showTextsUntil = 0;
const showTexts = () => {
    const texts = document.querySelector('#bucket_texts');
    const calm = matchMedia('(prefers-reduced-motion: reduce)').matches;
    texts.tabIndex = -1;
    texts.focus({preventScroll: true});
    texts.scrollIntoView({behavior: calm ? 'auto' : 'smooth', block: 'start'});
};
const pass = (from, name) => {
    if (!location.hash.startsWith(from)) return false;
    const box = document.querySelector(`#${name} textarea, #${name} input`);
    box.value = location.hash.slice(from.length) + ' ' + Date.now();
    history.replaceState(null, '', location.pathname + location.search);
    box.dispatchEvent(new Event('input', {bubbles: true}));
    return true;
};
window.addEventListener('hashchange', () => {
    pass('MODEL_LINK', 'picked');  // a click on the row of a model
    if (!pass(link, 'clicked')) return;
    showTextsUntil = Date.now() + 5000;
    showTexts();
});

// Every figure has two buttons that save it as it is drawn, on white, whatever the page's theme is.
const PIXELS = 3; // of a picture for each one on the screen
const save = (content, name) => {
    const anchor = document.createElement('a');
    anchor.href = URL.createObjectURL(content);
    anchor.download = name;
    anchor.click();
    setTimeout(() => URL.revokeObjectURL(anchor.href), 10000);
};
const drawing = figure => {
    const {width, height} = figure.viewBox.baseVal, copy = figure.cloneNode(true);
    copy.setAttribute('width', width);
    copy.setAttribute('height', height);
    const paper = document.createElementNS(copy.namespaceURI, 'rect');
    for (const [name, value] of Object.entries({width, height, fill: 'white'})) paper.setAttribute(name, value);
    copy.prepend(paper);
    copy.removeAttribute('aria-hidden');
    copy.setAttribute('role', 'img');
    copy.setAttribute('aria-label', figure.closest('[aria-label]').getAttribute('aria-label'));
    const text = new XMLSerializer().serializeToString(copy);
    return {width, height, content: new Blob([text], {type: 'image/svg+xml'})};
};
const savers = {
    PNG: (figure, name) => {
        const {width, height, content} = drawing(figure), picture = new Image();
        picture.onload = () => {
            const canvas = Object.assign(document.createElement('canvas'), {width: PIXELS * width, height: PIXELS * height});
            canvas.getContext('2d').drawImage(picture, 0, 0, canvas.width, canvas.height);
            canvas.toBlob(pixels => save(pixels, name));
            URL.revokeObjectURL(picture.src);
        };
        picture.src = URL.createObjectURL(content);
    },
    SVG: (figure, name) => save(drawing(figure).content, name),
};
const addButtons = place => {
    const row = document.createElement('div');
    row.className = 'mm-save';
    for (const [format, saver] of Object.entries(savers)) {
        const button = document.createElement('button');
        button.type = 'button';
        button.textContent = `Save as ${format}`;
        button.setAttribute('aria-label', `Save as ${format}: ${place.id.replaceAll('_', ' ')}`);
        button.onclick = () => saver(
            place.querySelector('svg.marks'), `mauve-${place.id.replaceAll('_', '-')}.${format.toLowerCase()}`
        );
        row.append(button);
    }
    place.append(row);
};
new MutationObserver(changes => {
    for (const place of document.querySelectorAll('.mm-figure:has(svg.marks):not(:has(.mm-save))')) addButtons(place);
    // What is drawn is described by its frame; its single words would only be in the way of those who listen.
    for (const drawn of document.querySelectorAll('.mm-figure svg.marks:not([aria-hidden])')) drawn.ariaHidden = 'true';
    if (Date.now() < showTextsUntil && changes.some(({target}) => target.closest?.('#bucket_texts'))) {
        showTextsUntil = 0;
        showTexts();
    }
}).observe(document.body, {childList: true, subtree: true});
