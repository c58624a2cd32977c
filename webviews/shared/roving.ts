/** Many buttons that are one stop of the Tab key: arrow keys, Home and End lead from one to the next. */

const strides: Readonly<Record<string, number>> = {
  ArrowLeft: -1,
  ArrowUp: -1,
  ArrowRight: 1,
  ArrowDown: 1,
};

/** Listens for good: what the container holds may change. Call `settle` after it did. */
export function roving(container: HTMLElement): { readonly settle: () => void } {
  const all = (): HTMLButtonElement[] => [...container.querySelectorAll("button")];
  const stop = (chosen: HTMLButtonElement | undefined): void => {
    for (const one of all()) one.tabIndex = one === chosen ? 0 : -1;
  };
  container.addEventListener("keydown", (event) => {
    const buttons = all();
    const here = buttons.findIndex((one) => one === document.activeElement);
    if (here < 0) return;
    const stride = strides[event.key];
    const to =
      event.key === "Home"
        ? 0
        : event.key === "End"
          ? buttons.length - 1
          : stride === undefined
            ? -1
            : here + stride;
    const next = buttons[to];
    if (next === undefined) return;
    event.preventDefault();
    stop(next);
    next.focus();
  });
  container.addEventListener("focusin", ({ target }) => {
    if (target instanceof HTMLButtonElement) stop(target);
  });
  return { settle: () => stop(all().find(({ ariaPressed }) => ariaPressed === "true") ?? all()[0]) };
}
