#!/usr/bin/env python
# coding: utf-8

# In[1]:


get_ipython().run_line_magic('matplotlib', 'inline')

# In[2]:


def train(steps):
    for step in range(steps):
        print(step)

# In[3]:


train(3)
