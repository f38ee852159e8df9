import asyncio


async def one(n):
    await asyncio.sleep(0)
    return n

async def main(n):
    a = await one(n)
    b = a + await one(2)
    return b


print(asyncio.run(main(1)))
