/**
 * e^x and e^x − 1 where x is mostly small, as log-ratios are, and log x where x is mostly near 1, as ratios are: there, for
 * |x| < ½ log 2 and between 0.72 and 1.38, the approximations that the engine's own functions use, written out, so that a
 * loop does not leave for a call at every token. Elsewhere they are those.
 *
 * The bounds are written out: a constant of the module would be read from memory, and checked, at every call. The rational
 * approximations are those of W. Kahan's and Sun's fdlibm (e_exp.c, s_expm1.c, e_log.c): error below one unit in the
 * last place.
 */

/** e^x. With R(x²) ≈ x (e^x + 1) / (e^x − 1): e^x = 1 + x + x c / (2 − c), c = x − (R − 2). */
export function exp(x: number): number {
  if (!(x < 0.34657359027997264 && x > -0.34657359027997264)) return Math.exp(x);
  const t = x * x;
  const c =
    x -
    t *
      (1.66666666666666019037e-1 +
        t *
          (-2.77777777770155933842e-3 +
            t *
              (6.61375632143793436117e-5 + t * (-1.6533902205465251539e-6 + t * 4.13813679705723846039e-8))));
  return 1 - ((x * c) / (c - 2) - x);
}

/** e^x − 1, exact also where it is nearly 0. */
export function expm1(x: number): number {
  if (!(x < 0.34657359027997264 && x > -0.34657359027997264)) return Math.expm1(x);
  const half = 0.5 * x;
  const t = x * half;
  const r =
    1 +
    t *
      (-3.33333333333331316428e-2 +
        t *
          (1.5873015872548146e-3 +
            t *
              (-7.93650757867487942473e-5 +
                t * (4.00821782732936239552e-6 + t * -2.01099218183624371326e-7))));
  const s = 3 - r * half;
  return x - (x * (t * ((r - s) / (6 - x * s))) - t);
}

/** log x. With f = x − 1, s = f / (2 + f) and R(s²) ≈ log((1 + s) / (1 − s)) / s − 2: log x = f − s (f − R). */
export function log(x: number): number {
  if (!(x < 1.38 && x > 0.72)) return Math.log(x);
  const f = x - 1;
  const s = f / (2 + f);
  const z = s * s;
  const w = z * z;
  const odd = w * (3.999999999940941908e-1 + w * (2.222219843214978396e-1 + w * 1.531383769920937332e-1));
  const even =
    z *
    (6.66666666666673513e-1 +
      w * (2.857142874366239149e-1 + w * (1.818357216161805012e-1 + w * 1.479819860511658591e-1)));
  return f - s * (f - (odd + even));
}
