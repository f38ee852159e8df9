import asyncio


async def one(n):
    await asyncio.sleep(0)
    return n

async def main(n):
    n = n + 1
    a = await one(n)
    b = await one(2)
    return a + b


print(asyncio.run(main(1)))
