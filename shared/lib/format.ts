/** How numbers are written wherever a person reads them: side bar, status bar, run panel, rollout documents. */

/** U+2212, as wide as a plus. */
const minus = "−";
const signed = (text: string): string => text.replace(/^-/, minus);

/** Three significant digits for small values, none after the point for large ones: 0.412, 12.4, 1,024. */
export function formatNumber(value: number | null | undefined): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : `${minus}∞`;
  const size = Math.abs(value);
  if (value === 0) return "0";
  if (size >= 1e6) return signed(value.toExponential(2).replace("e+", "e"));
  if (size >= 100 || Number.isInteger(value)) return signed(formatCount(Math.round(value)));
  if (size >= 10) return signed(value.toFixed(1));
  if (size >= 0.001) return signed(value.toFixed(size >= 1 ? 2 : size >= 0.01 ? 3 : 4));
  return signed(value.toExponential(1));
}

/** 0.5 → 50 %; one digit under ten per cent, so that 0.4 % is not 0 %, and as many as are asked for. */
export function formatFraction(value: number | null | undefined, least = 0): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const percent = value * 100;
  const digits =
    percent !== 0 && Math.abs(percent) < 10 && Math.abs(percent % 1) > 1e-9 ? Math.max(1, least) : least;
  return `${signed(percent.toFixed(digits))} %`;
}

/** Of differences of numbers of ordinary size, less is what floating point leaves. */
const rounding = 1e-12;

/** A difference with its sign: +0.12, −0.03, ±0. */
export function formatChange(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const text = formatNumber(value);
  if (Math.abs(value) < rounding) return "±0";
  return value > 0 ? `+${text}` : text;
}

/** 850 ms, 4.2 s, 3 min 20 s, 2 h 5 min. */
export function formatSeconds(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds) || seconds < 0) return "–";
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60)
    return whole % 60 === 0 || minutes >= 10
      ? `${Math.round(whole / 60)} min`
      : `${minutes} min ${whole % 60} s`;
  const hours = Math.floor(minutes / 60);
  return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
}

export function formatBytes(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let [size, unit] = [bytes, 0];
  while (size >= 1000 && unit < units.length - 1) [size, unit] = [size / 1000, unit + 1];
  return `${unit === 0 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${units[unit]}`;
}

/** just now, 5 min ago, 3 h ago, 2 d ago. */
export function formatAge(milliseconds: number): string {
  const minutes = Math.floor(milliseconds / 60_000);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.floor(minutes / 60);
  return hours < 24 ? `${hours} h ago` : `${Math.floor(hours / 24)} d ago`;
}

/** 20,480. By hand: to load what knows the languages of the world takes a thirtieth of a second, and each command counts something. */
export function formatCount(count: number): string {
  return Number.isInteger(count) && Math.abs(count) < 1e21
    ? String(count).replace(/\B(?=(?:\d{3})+$)/g, ",")
    : count.toLocaleString("en-US");
}

/** 1 run, 2 runs, 2 processes. */
export const plural = (count: number, word: string): string =>
  `${formatCount(count)} ${word}${count === 1 ? "" : word.endsWith("s") ? "es" : "s"}`;
