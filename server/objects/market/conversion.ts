import { ASSETS, type TradingSymbol } from './catalogue.ts';
import type { Price } from './sandbox-prices.ts';

/** The amounts that a customer delivers and receives, in the smallest units of the two assets. The fee is part of `deliver` or `receive`. */
export type Exchange = { deliver: bigint; receive: bigint; fee: bigint };
export type Given = { deliver: bigint } | { receive: bigint };

const BASIS_POINTS = 10_000n;

/**
 * Every division rounds in favour of the platform: what the customer delivers and the fee up, what the customer receives
 * down. The fee is in the quote asset.
 */
export function buy(symbol: TradingSymbol, { buy: price }: Price, feePoints: bigint, given: Given): Exchange {
  const one = wholeUnit(symbol.base_asset);
  if ('deliver' in given) {
    const { fee, net } = withoutFee(given.deliver, feePoints);
    return { deliver: given.deliver, receive: (net * one) / price, fee };
  }
  const { fee, gross } = withFee(divideUp(given.receive * price, one), feePoints);
  return { deliver: gross, receive: given.receive, fee };
}

export function sell(
  symbol: TradingSymbol,
  { sell: price }: Price,
  feePoints: bigint,
  given: Given,
): Exchange {
  const one = wholeUnit(symbol.base_asset);
  if ('deliver' in given) {
    const { fee, net } = withoutFee((given.deliver * price) / one, feePoints);
    return { deliver: given.deliver, receive: net, fee };
  }
  const { fee, gross } = withFee(given.receive, feePoints);
  return { deliver: divideUp(gross * one, price), receive: given.receive, fee };
}

/** One asset on both sides. */
export function transfer(feePoints: bigint, given: Given): Exchange {
  if ('deliver' in given) {
    const { fee, net } = withoutFee(given.deliver, feePoints);
    return { deliver: given.deliver, receive: net, fee };
  }
  const { fee, gross } = withFee(given.receive, feePoints);
  return { deliver: gross, receive: given.receive, fee };
}

function withoutFee(gross: bigint, feePoints: bigint): { fee: bigint; net: bigint } {
  const fee = divideUp(gross * feePoints, BASIS_POINTS);
  return { fee, net: gross - fee };
}

function withFee(net: bigint, feePoints: bigint): { fee: bigint; gross: bigint } {
  const gross = divideUp(net * BASIS_POINTS, BASIS_POINTS - feePoints);
  return { fee: gross - net, gross };
}

function divideUp(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor;
}

function wholeUnit(code: string): bigint {
  const decimals = ASSETS.find((asset) => asset.code === code)?.decimals ?? 0;
  return 10n ** BigInt(decimals);
}
