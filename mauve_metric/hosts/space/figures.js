// A click on a mark of a figure follows its link, which leads to a bucket: its number goes into a hidden box, with
// the time, so that a second click on a bucket is a change too.
const link = 'BUCKET_LINK';
window.addEventListener('hashchange', () => {
    if (!location.hash.startsWith(link)) return;
    const box = document.querySelector('#clicked textarea, #clicked input');
    box.value = location.hash.slice(link.length) + ' ' + Date.now();
    history.replaceState(null, '', location.pathname + location.search);
    box.dispatchEvent(new Event('input', {bubbles: true}));
});
