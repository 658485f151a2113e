/* The theme's script puts each copy button into a <nav>. These are no landmarks: a page has dozens without a name. */
const unmark = () =>
    document.querySelectorAll("nav.md-code__nav:not([role])").forEach(nav => nav.setAttribute("role", "none"));
new MutationObserver(unmark).observe(document.documentElement, {childList: true, subtree: true});
unmark();
