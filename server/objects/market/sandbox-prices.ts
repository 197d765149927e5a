import { hash } from 'node:crypto';
import { SYMBOLS, type TradingSymbol } from './catalogue.ts';

/** In the smallest unit of the quote asset, for one whole unit of the base asset. */
export type Price = { symbol: string; buy: bigint; sell: bigint; at: Date };

const STEP_MS = 5_000;
const MILLION = 1_000_000;
/** The price differs from its base by at most the sum of the swings. Each swing takes the given number of steps. */
const SWINGS = [
  { steps: 17_280, parts: 40_000 },
  { steps: 720, parts: 8_000 },
  { steps: 12, parts: 1_500 },
] as const;
const SPREAD_PARTS = 2_500;
const STABLE_COINS: ReadonlySet<string> = new Set(['USDC']);
const STABLE_FACTOR = 0.02;

const IN_USD: Readonly<Record<string, number>> = { BTC: 95_000, ETH: 3_400, USDC: 1, SOL: 180 };
const PER_USD: Readonly<Record<string, number>> = { USD: 1, CAD: 1.38, EUR: 0.92, GBP: 0.78 };
/** Every fiat asset of the catalogue has two decimals. */
const CENTS = 100;

/** The sandbox price of a symbol: a function of the time alone, so that every node and every test has the same. */
export function sandboxPrice({ symbol, base_asset, quote_asset }: TradingSymbol, now: Date): Price {
  const step = Math.floor(now.getTime() / STEP_MS);
  const base = Math.round((IN_USD[base_asset] ?? 1) * (PER_USD[quote_asset] ?? 1) * CENTS);
  const swing = SWINGS.reduce((sum, { steps, parts }) => sum + parts * noise(symbol, steps, step), 0);
  const change = Math.round(STABLE_COINS.has(base_asset) ? swing * STABLE_FACTOR : swing);
  const middle = Math.round((base * (MILLION + change)) / MILLION);
  return {
    symbol,
    buy: BigInt(Math.ceil((middle * (MILLION + SPREAD_PARTS)) / MILLION)),
    sell: BigInt(Math.floor((middle * (MILLION - SPREAD_PARTS)) / MILLION)),
    at: new Date(step * STEP_MS),
  };
}

export function sandboxPrices(symbols: ReadonlySet<string> | undefined, now: Date): Price[] {
  return SYMBOLS.filter(({ symbol }) => symbols?.has(symbol) ?? true).map((each) => sandboxPrice(each, now));
}

/** From -1 to 1: a line between random values, one for each `steps` steps. */
function noise(symbol: string, steps: number, step: number): number {
  const from = Math.floor(step / steps);
  const share = (step - from * steps) / steps;
  return randomOf(symbol, steps, from) * (1 - share) + randomOf(symbol, steps, from + 1) * share;
}

function randomOf(symbol: string, steps: number, index: number): number {
  const random = hash('sha256', `${symbol} ${steps} ${index}`, 'buffer').readUInt32BE(0);
  return (random / 0xffffffff) * 2 - 1;
}
