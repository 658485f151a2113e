// What events call: part of the head, as parts of the page can be used before its other scripts run.
//
// Gradio (6.31) closes its stream of answers when the server owes none, also where the server accepted a request since:
// that answer would not be read before another request opens a stream. Such a stream is continued by a new one.
const plain = window.fetch, awaited = new Set(), early = new Set(); // early: answered before they were known here
const pass = async (answer, again, out) => {
    let left = '', goesOn = true;
    const messages = () => new TransformStream({transform: (piece, to) => {
        const whole = (left + piece).split('\n\n');
        left = whole.pop();
        for (const message of whole) {
            const {msg, event_id: event} = message.startsWith('data: ') ? JSON.parse(message.slice(6)) : {};
            if (msg === 'process_completed' && !awaited.delete(event)) early.add(event);
            if (msg === 'unexpected_error' || msg === 'server_stopped') awaited.clear();
            goesOn = msg === 'close_stream' && awaited.size > 0;
            if (!goesOn) to.enqueue(`${message}\n\n`);
        }
    }});
    for (let from = answer; goesOn; from = goesOn && await again()) {
        goesOn = false;
        await from.body.pipeThrough(new TextDecoderStream()).pipeThrough(messages())
            .pipeThrough(new TextEncoderStream()).pipeTo(out, {preventClose: true});
    }
    if (awaited.size) throw new Error('the stream ended before its answers'); // by an HTTP error, or a proxy
    await out.close();
};
window.fetch = async (...request) => {
    const answer = await plain(...request), address = String(request[0].url ?? request[0]);
    if (address.includes('/queue/join') && answer.ok) {
        const {event_id: event} = await answer.clone().json();
        if (!early.delete(event)) awaited.add(event);
    }
    if (!address.includes('/queue/data')) return answer;
    const {readable, writable} = new TransformStream();
    pass(answer, () => plain(...request), writable).catch(error => {
        awaited.clear(); // a server that is lost answers none of them
        writable.abort(error).catch(() => {});
    });
    return new Response(readable, answer);
};
// A result that came is scrolled to (without an animation for those who want none), and the keyboard goes with it if it
// was at a button. A stopped run leaves no such line.
window.mauveShowResult = () => {
    requestAnimationFrame(() => requestAnimationFrame(() => {
        const outcome = document.querySelector('#outcome');
        if (!outcome || !document.querySelector('#status [data-result]')) return;
        if (holdsResult(location.search)) mauveLink('');  // a reload shows this result
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
// The query that the server made of the settings becomes a whole address, here and in the address bar; that of a result
// only here, as the page has the result itself.
let linked = false;  // whether the address bar has settings of which a link was made
const holdsResult = query => new URLSearchParams(query).has('shared');
window.mauveLink = query => {
    if (query.includes('://')) return [query];
    const kept = [...new URLSearchParams(location.search)].filter(([name]) => name.startsWith('__'));
    const own = new URLSearchParams([...kept, ...new URLSearchParams(query)]).toString();
    if (!holdsResult(query)) {
        history.replaceState(null, '', location.pathname + (own ? '?' + own : ''));
        linked = Boolean(query);
    }
    return [location.origin + location.pathname + (query ? '?' + query : '')];
};
window.mauveUnlink = link => {  // they changed, and with them the link went
    if (linked && !link) mauveLink('');
    return [];
};
