/**
 * Draws what is in view, or nearly, at once, and the rest when the page has time: a zoom changes every chart of a
 * panel, of which a person sees some.
 */

/** Milliseconds of a frame that are left when nothing more is begun. */
const leastTime = 4;
/** Milliseconds after which something is drawn though the page has had no time. */
const patience = 250;

const inView = new WeakSet<Element>();
const waiting = new Map<Element, () => void>();
let asked = false;

const observer = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries)
      if (isIntersecting) {
        inView.add(target);
        draw(target);
      } else inView.delete(target);
  },
  { rootMargin: "100px 0px" },
);

/** Of an element that `paint` shall know the place of. */
export const watch = (element: Element): void => observer.observe(element);

/** Until it is drawn, the element is `aria-busy`. What was asked for it before is not drawn any more. */
export function paint(element: Element, work: () => void): void {
  waiting.set(element, work);
  if (inView.has(element)) return draw(element);
  element.setAttribute("aria-busy", "true");
  askForTime();
}

/** Nothing is to be drawn there any more. */
export function unpaint(element: Element): void {
  waiting.delete(element);
  element.removeAttribute("aria-busy");
}

function draw(element: Element): void {
  const work = waiting.get(element);
  unpaint(element);
  work?.();
}

function askForTime(): void {
  if (asked) return;
  asked = true;
  requestIdleCallback(
    (deadline) => {
      asked = false;
      do {
        const [next] = waiting.keys();
        if (next !== undefined) draw(next);
      } while (waiting.size > 0 && deadline.timeRemaining() > leastTime);
      if (waiting.size > 0) askForTime();
    },
    { timeout: patience },
  );
}
