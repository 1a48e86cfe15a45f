// Python starts before the page's own script is read.

window.startPython = () => new Worker("worker.js", { type: "module" });
window.python = window.startPython();
