// Light or dark: as the system says, unless a person has chosen. A classic script in the head (no
// imports, no exports), so that a page is never drawn in the wrong colours first.
//
// Anything may say document.dispatchEvent(new Event("agon-theme")) to switch.
(function () {
  const root = document.documentElement;
  const system = window.matchMedia("(prefers-color-scheme: dark)");

  function kept() {
    try {
      return window.localStorage.getItem("agon-theme");
    } catch (_) {
      return null; // Storage is forbidden: the system decides.
    }
  }

  function keep(theme) {
    try {
      window.localStorage.setItem("agon-theme", theme);
    } catch (_) {
      // Holds for this page only.
    }
  }

  const chosen = kept();
  if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;

  function change() {
    const now = root.dataset.theme || (system.matches ? "dark" : "light");
    const next = now === "dark" ? "light" : "dark";
    root.dataset.theme = next;
    keep(next);
  }

  document.addEventListener("agon-theme", change);
  document.addEventListener("click", (event) => {
    if (event.target instanceof Element && event.target.closest("[data-theme-switch]")) change();
  });
})();
