import asyncio


async def one(n):
    await asyncio.sleep(0)
    return n


def add(n):
    n = n + 1
    return n


async def main(n):
    n = add(n)
    a = await one(n)
    b = await one(2)
    return a + b


print(asyncio.run(main(1)))
